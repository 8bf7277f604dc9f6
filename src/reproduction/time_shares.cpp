#include "src/reproduction/time_shares.hpp"

#include <algorithm>

namespace pardec {

TimeShares::TimeShares(std::optional<double> budget, const std::vector<const PaperItem*>& items,
                       const ReproduceOptions& options, double used)
    : budget_(budget), used_before_(used), scale_(options.scale) {
  if (!budget) return;
  for (const PaperItem* item : items)
    if (const std::string work = work_of(*item, scale_);
        !work.empty() && !to_make_.contains(work) && runs_here(*item, options))
      to_make_.insert(work);
}

double TimeShares::used() const {
  return used_before_ + std::chrono::duration<double>(Clock::now() - begin_).count();
}

Effort TimeShares::effort_of(const PaperItem& item) const {
  if (!budget_) return {};
  const double seconds = made_.contains(work_of(item, scale_))
                             ? 0
                             : std::max(0.0, *budget_ - used()) /
                                   static_cast<double>(std::max<size_t>(1, to_make_.size()));
  return {.runs = seconds > 0, .seconds = seconds};
}

void TimeShares::take(const Reproduction& result, const MadeBounds& bounds) {
  const std::string work = work_of(*result.item, scale_);
  to_make_.erase(work);
  if (result.run || bounds.contains(work)) made_.insert(work);
}

}  // namespace pardec
