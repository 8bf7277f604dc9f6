#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace pardec {

/// Estimates the remaining time of work of several kinds. The kinds differ in speed; in a run, they
/// are the cells (arms on datasets). The time per unit of a kind is the mean over its completed
/// units; a unit that has begun counts as half. If no unit of a kind has begun, its time per unit
/// is estimated from the kind's try, a measurement before the work (see `tried`). The time per unit
/// in the try is multiplied by a factor from the other kinds of the group: their actual time,
/// divided by the time that their tries predicted. Without a try, the estimate is the mean time per
/// unit of the group. The class has no clock: callers pass all times.
class TimeLeft {
 public:
  /// One kind of work.
  struct Kind {
    double units = 0;       ///< total number of units, e.g. of examples
    std::size_t group = 0;  ///< kinds of one group have similar speeds, e.g. the cells of an arm
  };
  explicit TimeLeft(std::vector<Kind> kinds);

  /// Reports a try, which is not part of the work: `units` of a kind took `seconds`. In this and
  /// the next functions, `kind` is an index in the constructor's list. REQUIRES: the index is in
  /// range.
  void tried(std::size_t kind, double units, double seconds);
  /// Reports the progress of a kind that was started `seconds` ago: since this start, `units` were
  /// completed, and `under_way` more have begun.
  void is_at(std::size_t kind, double units, double under_way, double seconds);
  /// Reports that a kind has stopped running: since its last start, `units` were completed in
  /// `seconds`.
  void finished(std::size_t kind, double units, double seconds);

  /// An estimate of the remaining time.
  struct Estimate {
    double seconds = 0;  ///< remaining time
    bool whole = true;   ///< false: `seconds` leaves out kinds about whose speed nothing is known
    /// Whether the estimate is reliable: at least four units, or at least a quarter of all units,
    /// are complete. With fewer, it could be wrong by more than a factor of two, because the
    /// lengths of answers in a dataset vary by a factor of ten.
    bool reliable = true;
  };
  /// The remaining time of all kinds together.
  Estimate left() const;

 private:
  struct State {
    Kind kind;
    double units = 0, seconds = 0;                           // completed before the current call
    double open_units = 0, under_way = 0, open_seconds = 0;  // currently running
    double try_units = 0, try_seconds = 0;

    double done() const { return units + open_units + under_way / 2; }
    double taken() const { return seconds + open_seconds; }
  };
  /// NaN: no time is known for the kind or its group.
  double seconds_per_unit(const State& state) const;

  std::vector<State> states_;
};

/// "0:40 left", or "over 0:40 left" if some kinds are not included. Empty if the estimate is not
/// reliable.
std::string text_of(const TimeLeft::Estimate& estimate);

}  // namespace pardec
