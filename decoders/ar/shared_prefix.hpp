#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// ask=separately where what prompts begin with is computed once: the instruction for all jobs in
/// flight, and `with_context` each context for its fields. REQUIRES: behind it every prompt has a
/// token of its own.
Task<Answers> decode_behind_prefix(const Request& request, bool with_context,
                                   const DecoderContext& context);

}  // namespace pardec
