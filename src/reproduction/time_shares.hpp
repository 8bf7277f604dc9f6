#pragma once
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/reproduction/reproduce.hpp"

namespace pardec {

/// Divides a time budget among items that are reproduced one after another. Several items may share
/// one run.
class TimeShares {
 public:
  /// Starts the clock. `budget`: seconds for all items; none: no limit. `used`: seconds of the
  /// budget that are already used. Each run that can be made with the networks and datasets that
  /// exist here (runs_here) gets a share.
  TimeShares(std::optional<double> budget, const std::vector<const PaperItem*>& items,
             const ReproduceOptions& options, double used = 0);

  double used() const;  ///< used part of the budget, in seconds
  /// The time that `item` may use now: the remaining time, divided by the number of runs that are
  /// still to be made. Effort::runs is false if the item's run was already made, or if no time is
  /// left. Without a budget, there is no limit.
  Effort effort_of(const PaperItem& item) const;
  /// Removes the work of an item from the runs that are still to be made. Call this after each
  /// reproduction, with its result and all traces that this process has made for bounds.
  void take(const Reproduction& result, const MadeBounds& bounds);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  std::optional<double> budget_;
  double used_before_;
  std::string scale_;
  std::set<std::string> to_make_, made_;  // keys of work_of()
};

}  // namespace pardec
