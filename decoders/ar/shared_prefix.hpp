#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// ask=separately with shared prefixes: the instruction is computed once for all running jobs, and,
/// if `with_context`, each context is computed once for all of its fields. REQUIRES: every prompt
/// has at least one token after its shared prefix; all arguments outlive the task.
Task<Answers> decode_behind_prefix(const Request& request, bool with_context,
                                   const DecoderContext& context);

}  // namespace pardec
