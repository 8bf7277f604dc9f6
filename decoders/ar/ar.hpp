#pragma once
#include "decoders/free_running.hpp"

namespace pardec {

/// Generates after the rows in `sequence`, one token in each pass, until `rule` ends the stream.
/// All rows are at natural positions. `seen`: the logits of the last row. REQUIRES: `sequence` and
/// `context` outlive the task.
Task<Stream> continue_from(Sequence& sequence, StepResult seen, Chooser chooser, Sampling sampling,
                           StopRule rule, const DecoderContext& context);

/// AR with a prompt whose beginning is already in `sequence`, at natural positions. The prompt of
/// `request` is the rest of the whole prompt: it is processed, then tokens are generated after it.
/// REQUIRES: the rest is not empty; `context` outlives the task.
Task<Stream> continue_prompt(Sequence sequence, StreamRequest request,
                             const DecoderContext& context);

DecoderEntry ar_entry();

}  // namespace pardec
