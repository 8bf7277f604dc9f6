#pragma once
#include <cstdint>
#include <string>

#include "decoders/decoder.hpp"

namespace pardec {

/// Decodes a request. A conversation is decoded turn by turn, each after the answers so far; its
/// answer has one field per turn, and the counts of all turns. REQUIRES: all arguments outlive the
/// task.
Task<Answers> decode_request(const Decoder& decoder, const Request& request,
                             const DecoderContext& context);

/// Number of later turns of a conversation whose ids differ from those of their text; 0 for other
/// requests.
int turns_off_text(const Request& request, const Answers& answers, const Tokenizer& tokenizer);
/// A message with this number.
std::string describe_turns_off(std::int64_t turns);

}  // namespace pardec
