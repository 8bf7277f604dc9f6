#pragma once
#include "decoders/free_running.hpp"

namespace pardec {

/// Continues after the rows in `sequence`, which are all at natural positions, until `rule` ends
/// the stream: x_{t+1} from x_t. `seen`: the logits of the last row. REQUIRES: `sequence` and
/// `context` outlive the task.
Task<Stream> continue_from(Sequence& sequence, StepResult seen, Chooser chooser, Sampling sampling,
                           StopRule rule, const DecoderContext& context);

/// AR after the rows in `sequence`, which are all at natural positions. Processes the prompt of
/// `request`, which is the rest of the whole prompt, and continues it. REQUIRES: the rest is not
/// empty; `context` outlives the task.
Task<Stream> continue_prompt(Sequence sequence, StreamRequest request,
                             const DecoderContext& context);

DecoderEntry ar_entry();

}  // namespace pardec
