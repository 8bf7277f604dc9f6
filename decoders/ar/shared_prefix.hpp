#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// ask=separately, where prompts with a common prefix share its rows: the instruction is computed
/// once for all running jobs, and with `with_context` each context is computed once for all of its
/// fields. REQUIRES: every prompt has at least one token after its shared prefix.
Task<Answers> decode_behind_prefix(const Request& request, bool with_context,
                                   const DecoderContext& context);

}  // namespace pardec
