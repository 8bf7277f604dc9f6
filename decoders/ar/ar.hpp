#pragma once
#include "decoders/free_running.hpp"

namespace pardec {

/// Generates tokens after the rows in `sequence`, one token per pass, until `rule` ends the stream.
/// `seen`: the result of the step with the last row. REQUIRES: all rows are labelled by text_label;
/// `sequence` and `context` outlive the task.
Task<Stream> continue_from(Sequence& sequence, StepResult seen, Chooser chooser, Sampling sampling,
                           StopRule rule, const DecoderContext& context);

/// AR after a prompt whose beginning is already in `sequence`. Computes the rest of the prompt
/// (request.prompt), then generates tokens. REQUIRES: the rest is not empty; all rows are labelled
/// by text_label; `context` outlives the task.
Task<Stream> continue_prompt(Sequence sequence, StreamRequest request,
                             const DecoderContext& context);

DecoderEntry ar_entry();

}  // namespace pardec
