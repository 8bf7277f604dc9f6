#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Counts and prices that papers report, and that the engine does not measure. Pure functions.
namespace pardec {

/// For each branch of one prompt: its number of generated tokens (HPD: K_r, including the
/// terminator).
using BranchLengths = std::vector<std::int64_t>;

/// The number of padding tokens that a padded implementation computes for a batch of prompts (HPD
/// paper, 4.3.6). In each step t >= 2, the inputs of all prompts are padded to the largest number
/// of open branches of a prompt. A branch r is open in step t if t <= K_r. The result is the sum
/// over t of (b * largest number of open branches of a prompt - number of open branches of all
/// prompts), where b is the number of prompts.
std::int64_t pad_columns(std::span<const BranchLengths> batch);

/// The price of 1,000 examples in US dollars, from the throughput of a device and the device's
/// price per hour (HPD paper, Table 1).
double usd_per_thousand(double examples_per_second, double usd_per_hour);

/// The number of words in a text divided by the number of different words. Words are separated by
/// white space. 0 if there are no words. In repetitive answers, more guesses are accepted; the
/// SPACE paper's code calls an answer degenerate if the result for the answer is above kDegenerate.
double repetition(std::string_view text);
inline constexpr double kDegenerate = 3.5;

/// The counts of one answer with serial and parallel stages.
struct ParallelCounts {
  std::int64_t generated = 0;  ///< A: all tokens, including control tokens and forced tokens
  /// B: tokens in branches, including <Branch>, prefix and </Branch>
  std::int64_t branch_tokens = 0;
  std::int64_t groups = 0;       ///< number of parallel stages
  std::int64_t branches = 0;     ///< number of branches in all groups
  std::int64_t decode_ns = 0;    ///< time of all stages, except the first forward pass
  std::int64_t parallel_ns = 0;  ///< time of the parallel stages
};

/// The metrics of the ASPD paper, section 4.1. A group is a parallel stage. The paper does not say
/// whether answers without a group count for DP, so there are two variants. An answer
/// whose divisor is 0 is left out of the mean.
struct ParallelMetrics {
  double dp = 0;      ///< degree of parallelism: mean of B / A over answers with a group
  double dp_all = 0;  ///< mean of B / A over all answers
  double abn = 0;    ///< average branch number: mean of branches / groups over answers with a group
  double ppd = 0;    ///< share of answers with a group
  double tps = 0;    ///< tokens per second: mean of A per second
  double p_tps = 0;  ///< mean of B per second of parallel stages, over answers with a group
};

/// Computes the metrics over these answers. A mean over no answers is 0.
ParallelMetrics parallel_metrics(std::span<const ParallelCounts> answers);

}  // namespace pardec
