#pragma once
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/reproduction/reproduce.hpp"

namespace pardec {

/// Shares a budget of time among items that are reproduced one after another, of which several may
/// be measured by one run.
class TimeShares {
 public:
  /// The time begins now. `budget`: seconds for all of it; none: no limit.
  TimeShares(std::optional<double> budget, const std::vector<const PaperItem*>& items,
             const ReproduceOptions& options);

  double used() const;  ///< seconds
  /// What the item may take now: its share of what is left, among those that still have to run;
  /// nothing, where another item has measured it.
  Effort effort_of(const PaperItem& item) const;
  /// Takes the item as done.
  void take(const Reproduction& result, const MadeBounds& bounds);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
  std::optional<double> budget_;
  std::string scale_;
  std::set<std::string> to_make_, made_;  // by work_of()
};

}  // namespace pardec
