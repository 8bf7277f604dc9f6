#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace pardec {

/// Estimates the remaining time of work of several kinds with different speeds (the cells of a run:
/// arms on datasets). The time per unit of a kind is measured on its completed units. A kind
/// without completed units uses the time of a first try. That time is multiplied by the ratio of
/// actual times to tried times of the other kinds in its group. Pure arithmetic, without a clock.
class TimeLeft {
 public:
  struct Kind {
    double units = 0;       ///< total work
    std::size_t group = 0;  ///< kinds in a group have similar speeds, e.g. those of an arm
  };
  explicit TimeLeft(std::vector<Kind> kinds);

  /// A try, which is not part of the work: `units` of a kind took `seconds`.
  void tried(std::size_t kind, double units, double seconds);
  /// Progress of a kind that was started `seconds` ago: `units` are complete and `under_way` have
  /// begun.
  void is_at(std::size_t kind, double units, double under_way, double seconds);
  /// A kind has ended, after `units` in `seconds`.
  void finished(std::size_t kind, double units, double seconds);

  struct Estimate {
    double seconds = 0;
    bool whole = true;  ///< false: nothing is known about some kinds, which are not included
    /// False: fewer than four units and less than a quarter of all are complete. The lengths of
    /// answers of one dataset vary by a factor of ten, so that such an estimate could be wrong by
    /// more than a factor of two.
    bool founded = true;
  };
  Estimate left() const;

 private:
  struct State {
    Kind kind;
    double units = 0, seconds = 0;                           // completed earlier
    double open_units = 0, under_way = 0, open_seconds = 0;  // currently running
    double try_units = 0, try_seconds = 0;

    double done() const { return units + open_units + under_way / 2; }
    double taken() const { return seconds + open_seconds; }
  };
  double seconds_per_unit(const State& state) const;

  std::vector<State> states_;
};

/// "0:40 left", or "over 0:40 left" if kinds are not included; empty if the estimate is not
/// reliable.
std::string text_of(const TimeLeft::Estimate& estimate);

}  // namespace pardec
