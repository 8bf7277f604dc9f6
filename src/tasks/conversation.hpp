#pragma once
#include <cstdint>
#include <string>

#include "decoders/decoder.hpp"

namespace pardec {

/// Decodes a request. A conversation is decoded turn by turn; its result has one field per turn,
/// and the counters of all turns. If the request is interrupted (DecoderContext::stop), later turns
/// are left out. Errors: see Decoder::decode. REQUIRES: all arguments outlive the task.
Task<Answers> decode_request(const Decoder& decoder, const Request& request,
                             const DecoderContext& context);

/// The number of turns (of a conversation, after the first turn) whose prompt ids differ from the
/// ids of the whole conversation when it is tokenized at once (src/prompt/pieces.hpp); 0 if the
/// request is no conversation. `answers`: of decode_request for this request.
int turns_off_text(const Request& request, const Answers& answers, const Tokenizer& tokenizer);
/// A message for the user about this number of turns (turns_off_text).
std::string describe_turns_off(std::int64_t turns);

}  // namespace pardec
