#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "decoders/own_columns.hpp"

namespace pardec {

/// The counts of a job, split into responses to prompts. A conversation has one response per entry
/// of `turns`. Any other job has one response with `answers` answers.
std::vector<ResponseCounts> responses_of(const Counts& job, std::span<const Counts> turns,
                                         std::int64_t answers);

}  // namespace pardec
