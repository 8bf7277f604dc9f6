#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"

namespace pardec {

/// One arm on the examples of one category.
struct CategoryFinding {
  size_t arm = 0;             ///< index in Comparison::arms
  std::string category;       ///< empty: the dataset has no categories
  std::int64_t examples = 0;  ///< number of distinct examples with an answer
  /// The baseline's time divided by the arm's time, over the examples that both answered in blocks
  /// that the same process measured. None: there is no baseline or no such example, or an arm
  /// answered several jobs at a time, so that no job has a time of its own.
  std::optional<Interval> speedup;
  std::int64_t timed = 0;  ///< number of jobs in `speedup`; repeats count once
  /// Generated tokens per second of the jobs' time. NaN: no job has a time of its own.
  double tokens_per_second = 0;
  Interval tokens_per_forward{};  ///< generated tokens per pass, over jobs
  /// The totals in Comparison::scores, as in ArmFinding::scores. The p-values are not adjusted.
  /// Empty if an arm has an oracle.
  std::map<std::string_view, ScoreFinding> scores;
};

/// Findings by dataset, category (in alphabetical order) and arm. A job with examples of several
/// categories (a stack) counts in none of them, except for scores. Intervals over fewer than
/// kFewestBlocks jobs or clusters have no ends. REQUIRES: `comparison` was computed from
/// `measured`.
std::vector<CategoryFinding> by_category(const Comparison& comparison,
                                         const Measurements& measured);

}  // namespace pardec
