#pragma once
#include <cstdint>
#include <span>
#include <vector>

/// Counts and prices that the papers report and a packed engine does not have by itself. Pure
/// functions.
namespace pardec {

/// Tokens chosen for each branch of one prompt (HPD: K_r, terminator included).
using BranchLengths = std::vector<std::int64_t>;

/// Dummy tokens that a padded implementation feeds for one batch of prompts: in step t >= 2 every
/// prompt's input is as wide as the widest, sum over t of b * max_open(t) - sum open(t), where
/// branch r is open in step t while t <= K_r (specs of HPD, A2 Accounting; paper, 4.3.6).
std::int64_t pad_columns(std::span<const BranchLengths> batch);

/// Price of 1,000 examples at a throughput (examples/s on one device) and an hourly price of that
/// device (specs of HPD, A2; paper, Table 1).
double usd_per_thousand(double examples_per_second, double usd_per_hour);

}  // namespace pardec
