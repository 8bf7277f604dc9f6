#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// The findings about one arm on the examples of one category of a dataset.
struct CategoryFinding {
  size_t arm = 0;             ///< index in Comparison::arms
  std::string category;       ///< empty: the dataset has no categories
  std::int64_t examples = 0;  ///< number of distinct examples that the arm answered
  /// The baseline's time divided by the arm's time, over the jobs that both arms finished (the same
  /// examples in the same repeat, in blocks that the same process measured). None: there is no
  /// baseline or no such job, or one of the two arms has a batch size above 1, so that jobs have no
  /// times of their own.
  std::optional<Interval> speedup;
  std::int64_t timed = 0;  ///< number of jobs in `speedup`; all repeats of a job count as one
  /// generated tokens divided by the sum of the jobs' times; NaN: there is no job, or the arm's
  /// batch size is above 1
  double tokens_per_second = 0;
  Interval tokens_per_forward{};  ///< generated tokens per forward pass; interval over jobs
  /// Name of a total -> finding, as in ArmFinding::scores, but the p-values are not adjusted. Empty
  /// if an arm of the comparison has an oracle.
  std::map<std::string_view, ScoreFinding> scores;
};

/// The findings of all arms, sorted by dataset, then by category (in alphabetical order), then by
/// arm. If the examples of a job (a stack) have different categories, these examples count in
/// `examples` and `scores`, but not in speeds. The ends of intervals over fewer than kFewestBlocks
/// jobs or clusters are NaN. REQUIRES: `comparison` was computed from `measured`.
std::vector<CategoryFinding> by_category(const Comparison& comparison,
                                         const Measurements& measured);

}  // namespace pardec
