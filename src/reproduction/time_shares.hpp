#pragma once
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/reproduction/reproduce.hpp"

namespace pardec {

/// Divides a time budget among items that are reproduced one after the other. One run may measure
/// several items.
class TimeShares {
 public:
  /// Starts the clock. `budget`: seconds for all items; none: no limit. `used`: seconds of the
  /// budget that were used before.
  TimeShares(std::optional<double> budget, const std::vector<const PaperItem*>& items,
             const ReproduceOptions& options, double used = 0);

  double used() const;  ///< seconds
  /// The time that the item may use now: an equal share of the remaining time among items that
  /// still have to run. If another item has already measured the same work, the effort allows no
  /// runs.
  Effort effort_of(const PaperItem& item) const;
  /// Marks the item as done.
  void take(const Reproduction& result, const MadeBounds& bounds);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  std::optional<double> budget_;
  double used_before_;
  std::string scale_;
  std::set<std::string> to_make_, made_;  // names from work_of()
};

}  // namespace pardec
