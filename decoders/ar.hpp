#pragma once
#include "decoders/free_running.hpp"

namespace pardec {

/// AR behind what `sequence` holds, all of it at natural positions: feeds the prompt of `request`,
/// which is the rest of the whole one, and continues it. REQUIRES: the rest is not empty; `context`
/// outlives the task.
Task<Stream> continue_prompt(Sequence sequence, StreamRequest request,
                             const DecoderContext& context);

DecoderEntry ar_entry();

}  // namespace pardec
