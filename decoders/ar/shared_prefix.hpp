#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// Answers fields one by one (ask=separately), each after a shared beginning of its prompt: the
/// instruction is computed once for all running jobs, and, if `with_context`, each context is
/// computed once for all of its fields. Errors: see check_prompt and Sequence::forward. REQUIRES:
/// every prompt has at least one token after its shared beginning; all arguments outlive the task.
Task<Answers> decode_after_prefix(const Request& request, bool with_context,
                                  const DecoderContext& context);

}  // namespace pardec
