#pragma once
#include <cstdint>
#include <string>

#include "decoders/decoder.hpp"

namespace pardec {

/// Decodes a request. A conversation is decoded turn by turn; the result has one field per turn,
/// and the counters of all turns. If the request is interrupted (DecoderContext::stop), later turns
/// are left out. Errors: see Decoder::decode. REQUIRES: all arguments outlive the task.
Task<Answers> decode_request(const Decoder& decoder, const Request& request,
                             const DecoderContext& context);

/// Counts the turns of a conversation, after the first turn, in which the prompt's ids differ from
/// the ids of the same text when the whole conversation is tokenized at once
/// (src/prompt/pieces.hpp). Returns 0 if the request is not a conversation. `answers`: the result
/// of decode_request for this request.
int turns_off_text(const Request& request, const Answers& answers, const Tokenizer& tokenizer);
/// A message for the user about this number of turns (turns_off_text).
std::string describe_turns_off(std::int64_t turns);

}  // namespace pardec
