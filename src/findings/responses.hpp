#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "decoders/own_columns.hpp"

namespace pardec {

/// Divides the counts of a job into responses to prompts. `turns`: for a conversation, the counts
/// of each turn. Each turn is a response with one answer, and `answers` is not used. For any other
/// job, `turns` is empty, and the job is one response with `answers` answers.
std::vector<ResponseCounts> responses_of(const Counts& job, std::span<const Counts> turns,
                                         std::int64_t answers);

}  // namespace pardec
