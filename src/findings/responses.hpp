#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "decoders/own_columns.hpp"

namespace pardec {

/// The counts of a job, divided into responses to prompts. `turns`: the counts of each turn of a
/// conversation; each turn is one response. If `turns` is empty, the job is one response.
/// `answers`: the number of its answers; not used for a conversation, in which each response has
/// one answer.
std::vector<ResponseCounts> responses_of(const Counts& job, std::span<const Counts> turns,
                                         std::int64_t answers);

}  // namespace pardec
