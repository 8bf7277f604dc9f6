#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace pardec {

/// How long work still takes whose kinds differ in speed: the cells of a run, which are its arms on
/// its datasets. A unit of a kind takes what those took that were done; before there are any, what
/// a first try took, corrected by how the kinds of its group differed from theirs. Plain
/// arithmetic: who uses it has the clock.
class TimeLeft {
 public:
  struct Kind {
    double units = 0;       ///< to be done in all
    std::size_t group = 0;  ///< kinds of one group are about as fast, e.g. an arm's
  };
  explicit TimeLeft(std::vector<Kind> kinds);

  /// A try apart from the work: `units` of a kind took `seconds`.
  void tried(std::size_t kind, double units, double seconds);
  /// Of what a kind is at, and began `seconds` ago, `units` are done and `under_way` are begun.
  void is_at(std::size_t kind, double units, double under_way, double seconds);
  /// The same when it is over.
  void finished(std::size_t kind, double units, double seconds);

  struct Estimate {
    double seconds = 0;
    bool whole = true;  ///< false: of some kinds nothing is known, and they are not in it
    /// False: fewer than four units are done, and less than a quarter of all. Answers of one
    /// dataset differ in length by ten times, so that such a figure is wrong by more than two.
    bool founded = true;
  };
  Estimate left() const;

 private:
  struct State {
    Kind kind;
    double units = 0, seconds = 0;                           // that were done
    double open_units = 0, under_way = 0, open_seconds = 0;  // what it is at
    double try_units = 0, try_seconds = 0;

    double done() const { return units + open_units + under_way / 2; }
    double taken() const { return seconds + open_seconds; }
  };
  double seconds_per_unit(const State& state) const;

  std::vector<State> states_;
};

/// "0:40 left", or "over 0:40 left" where it is not the whole; empty where it is not founded.
std::string text_of(const TimeLeft::Estimate& estimate);

}  // namespace pardec
