#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Counts and prices that the papers report and a packed engine does not have by itself. Pure
/// functions.
namespace pardec {

/// Tokens chosen for each branch of one prompt (HPD: K_r, terminator included).
using BranchLengths = std::vector<std::int64_t>;

/// Dummy tokens that a padded implementation feeds for one batch of prompts: in step t >= 2 every
/// prompt's input is as wide as the widest, sum over t of b * max_open(t) - sum open(t), where
/// branch r is open in step t while t <= K_r (HPD paper, 4.3.6).
std::int64_t pad_columns(std::span<const BranchLengths> batch);

/// Price of 1,000 examples at a throughput (examples/s on one device) and an hourly price of that
/// device (HPD paper, Table 1).
double usd_per_thousand(double examples_per_second, double usd_per_hour);

/// Words of a text over its different words, words being what white space separates; 0 without any.
/// An answer that repeats itself inflates what drafts are accepted; the SPACE paper's code calls
/// one above 3.5 degenerate.
double repetition(std::string_view text);
inline constexpr double kDegenerate = 3.5;

/// What one answer of serial and parallel stages is made of.
struct ParallelCounts {
  std::int64_t generated = 0;  ///< A: all its tokens, control tokens and forced ones included
  std::int64_t branch_tokens =
      0;                         ///< B: those in branches, <Branch>, prefix and </Branch> included
  std::int64_t groups = 0;       ///< parallel stages
  std::int64_t branches = 0;     ///< of all of them
  std::int64_t decode_ns = 0;    ///< time of all stages, the first forward pass apart
  std::int64_t parallel_ns = 0;  ///< time of the parallel stages
};

/// ASPD paper, section 4.1, which leaves open whether answers without a group count: both are here.
/// A mean leaves out answers for which its divisor is 0.
struct ParallelMetrics {
  double dp = 0;      ///< degree of parallelism: mean of B / A over answers with a group
  double dp_all = 0;  ///< the same over all answers
  double abn = 0;    ///< average branch number: mean of branches / groups over answers with a group
  double ppd = 0;    ///< share of answers with a group
  double tps = 0;    ///< mean of A per second
  double p_tps = 0;  ///< mean of B per second of the parallel stages, over answers with a group
};

/// Means over no answer are 0.
ParallelMetrics parallel_metrics(std::span<const ParallelCounts> answers);

}  // namespace pardec
