#pragma once
#include <cstdint>
#include <string>

#include "decoders/decoder.hpp"

namespace pardec {

/// Decodes a request. A conversation is decoded turn by turn; its result has one field per turn,
/// and the counters of all turns. REQUIRES: all arguments outlive the task.
Task<Answers> decode_request(const Decoder& decoder, const Request& request,
                             const DecoderContext& context);

/// The same as turns_off_text in pieces.hpp, for a decoded request; 0 if it is no conversation.
int turns_off_text(const Request& request, const Answers& answers, const Tokenizer& tokenizer);
/// A message about this number of turns.
std::string describe_turns_off(std::int64_t turns);

}  // namespace pardec
