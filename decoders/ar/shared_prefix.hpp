#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// ask=separately, with common beginnings of prompts computed once: the instruction for all running
/// jobs, and with `with_context` also each context for its fields. REQUIRES: every prompt has at
/// least one token after that beginning.
Task<Answers> decode_behind_prefix(const Request& request, bool with_context,
                                   const DecoderContext& context);

}  // namespace pardec
