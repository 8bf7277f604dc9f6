#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// Counts and prices that papers report and that a packed engine does not measure itself. Pure
/// functions.
namespace pardec {

/// Number of tokens chosen for each branch of one prompt (HPD: K_r, including the terminator).
using BranchLengths = std::vector<std::int64_t>;

/// Number of dummy tokens that a padded implementation computes for one batch of prompts. In step t
/// >= 2, every prompt's input is as wide as the widest: sum over t of b * max_open(t) - sum
/// open(t), where branch r is open in step t if t <= K_r (HPD paper, 4.3.6).
std::int64_t pad_columns(std::span<const BranchLengths> batch);

/// Price of 1,000 examples at a given throughput (examples/s on one device) and hourly price of the
/// device (HPD paper, Table 1).
double usd_per_thousand(double examples_per_second, double usd_per_hour);

/// Number of words of a text, divided by the number of different words; words are separated by
/// white space. 0 without words. Repetitive answers inflate the acceptance of drafts; the SPACE
/// paper's code calls an answer above 3.5 degenerate.
double repetition(std::string_view text);
inline constexpr double kDegenerate = 3.5;

/// The parts of one answer with serial and parallel stages.
struct ParallelCounts {
  std::int64_t generated = 0;  ///< A: all its tokens, including control tokens and forced ones
  /// B: tokens in branches, including <Branch>, prefix and </Branch>
  std::int64_t branch_tokens = 0;
  std::int64_t groups = 0;       ///< number of parallel stages
  std::int64_t branches = 0;     ///< number of branches in all groups
  std::int64_t decode_ns = 0;    ///< time of all stages, except the first forward pass
  std::int64_t parallel_ns = 0;  ///< time of the parallel stages
};

/// Metrics of the ASPD paper, section 4.1. The paper leaves open whether answers without a group
/// count; both variants are here. A mean leaves out answers whose divisor is 0.
struct ParallelMetrics {
  double dp = 0;      ///< degree of parallelism: mean of B / A over answers with a group
  double dp_all = 0;  ///< the same over all answers
  double abn = 0;    ///< average branch number: mean of branches / groups over answers with a group
  double ppd = 0;    ///< share of answers with a group
  double tps = 0;    ///< mean of A per second
  double p_tps = 0;  ///< mean of B per second of the parallel stages, over answers with a group
};

/// A mean over no answers is 0.
ParallelMetrics parallel_metrics(std::span<const ParallelCounts> answers);

}  // namespace pardec
