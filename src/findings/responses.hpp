#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "decoders/own_columns.hpp"

namespace pardec {

/// The responses to the prompts of a job: for a conversation, one per entry of `turns`; otherwise
/// one for the whole job, with its `answers`.
std::vector<ResponseCounts> responses_of(const Counts& job, std::span<const Counts> turns,
                                         std::int64_t answers);

}  // namespace pardec
