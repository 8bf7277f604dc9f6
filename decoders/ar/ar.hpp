#pragma once
#include "decoders/free_running.hpp"

namespace pardec {

/// x_{t+1} from x_t until `rule` ends it, behind what `sequence` holds, all of it at natural
/// positions; `seen` has the logits of the last row fed. REQUIRES: `sequence` and `context` outlive
/// the task.
Task<Stream> continue_from(Sequence& sequence, StepResult seen, Chooser chooser, Sampling sampling,
                           StopRule rule, const DecoderContext& context);

/// AR behind what `sequence` holds, all of it at natural positions: feeds the prompt of `request`,
/// which is the rest of the whole one, and continues it. REQUIRES: the rest is not empty; `context`
/// outlives the task.
Task<Stream> continue_prompt(Sequence sequence, StreamRequest request,
                             const DecoderContext& context);

DecoderEntry ar_entry();

}  // namespace pardec
