#include "src/runs/time_left.hpp"

#include <algorithm>
#include <cmath>

#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr double kFounding = 4;  ///< number of units

}  // namespace

TimeLeft::TimeLeft(std::vector<Kind> kinds) {
  for (const Kind& kind : kinds) states_.emplace_back().kind = kind;
}

void TimeLeft::tried(std::size_t kind, double units, double seconds) {
  states_[kind].try_units += units;
  states_[kind].try_seconds += seconds;
}

void TimeLeft::is_at(std::size_t kind, double units, double under_way, double seconds) {
  State& state = states_[kind];
  state.open_units = units;
  state.under_way = under_way;
  state.open_seconds = seconds;
}

void TimeLeft::finished(std::size_t kind, double units, double seconds) {
  is_at(kind, 0, 0, 0);
  states_[kind].units += units;
  states_[kind].seconds += seconds;
}

/// NaN: nothing is known about the kind or its group.
double TimeLeft::seconds_per_unit(const State& state) const {
  if (state.done() > 0) return state.taken() / state.done();
  // The ratio of actual time to the time expected from tries; without tries, time per unit in the
  // group.
  const bool has_try = state.try_units > 0;
  double taken = 0, expected = 0;
  for (const State& other : states_) {
    if (other.kind.group != state.kind.group || other.done() <= 0) continue;
    if (has_try && other.try_units <= 0) continue;
    taken += other.taken();
    expected += other.done() * (has_try ? other.try_seconds / other.try_units : 1);
  }
  if (!has_try) return expected > 0 ? taken / expected : std::nan("");
  return state.try_seconds / state.try_units * (expected > 0 ? taken / expected : 1);
}

TimeLeft::Estimate TimeLeft::left() const {
  Estimate estimate;
  double done = 0, all = 0;
  for (const State& state : states_) {
    done += state.units + state.open_units;
    all += state.kind.units;
    const double units = state.kind.units - state.done();
    if (units <= 0) continue;
    const double seconds = units * seconds_per_unit(state);
    if (std::isfinite(seconds))
      estimate.seconds += seconds;
    else
      estimate.whole = false;
  }
  estimate.reliable = done >= std::min(kFounding, all / 4);
  return estimate;
}

std::string text_of(const TimeLeft::Estimate& estimate) {
  if (!estimate.reliable) return "";
  return str(estimate.whole ? "" : "over ", duration(std::llround(estimate.seconds)), " left");
}

}  // namespace pardec
