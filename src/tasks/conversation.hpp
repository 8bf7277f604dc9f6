#pragma once
#include <cstdint>
#include <string>

#include "decoders/decoder.hpp"

namespace pardec {

/// A request as it is decoded: a conversation turn by turn, each behind the answers so far; its
/// answer has one field a turn, and the counts of all turns. REQUIRES: all outlive the task.
Task<Answers> decode_request(const Decoder& decoder, const Request& request,
                             const DecoderContext& context);

/// Of a conversation's answers; 0 for anything else.
int turns_off_text(const Request& request, const Answers& answers, const Tokenizer& tokenizer);
/// That there were so many, for a reader.
std::string describe_turns_off(std::int64_t turns);

}  // namespace pardec
