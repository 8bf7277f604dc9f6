#pragma once
#include <cstdint>
#include <vector>

#include "decoders/own_columns.hpp"
#include "src/store/rows.hpp"

namespace pardec {

/// What the prompts of a job were answered with: one a turn of a conversation, where each was
/// stored (Json of `turns` as JobCounters'); else one of the whole job, with its `answers`.
std::vector<ResponseCounts> responses_of(const JobNumbers& job, const Json& parallel,
                                         const Json& turns, std::int64_t answers);

}  // namespace pardec
