#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "decoders/own_columns.hpp"

namespace pardec {

/// What the prompts of a job were answered with: one a turn of a conversation, where there are
/// `turns`; else one of the whole job, with its `answers`.
std::vector<ResponseCounts> responses_of(const Counts& job, std::span<const Counts> turns,
                                         std::int64_t answers);

}  // namespace pardec
