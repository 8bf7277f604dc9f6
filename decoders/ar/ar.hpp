#pragma once
// Autoregressive decoding: one token per forward pass. decoders/ar/README.md explains the options.
#include "decoders/free_running.hpp"

namespace pardec {

/// Generates tokens after the rows in `sequence`, one token per pass, until `rule` ends the stream.
/// `seen`: the result of the step that computed the last row; the first output of this step result
/// has the logits of the last row. Stream::counters of the returned stream is not set. Errors: see
/// Sequence::forward. REQUIRES: all rows are labelled by text_label; `sequence`, `context` and the
/// chooser's source of random decisions outlive the task.
Task<Stream> continue_from(Sequence& sequence, StepResult seen, Chooser chooser, Sampling sampling,
                           StopRule rule, const DecoderContext& context);

/// Decodes autoregressively after a prompt. A beginning of the prompt, possibly empty, is already
/// in `sequence`; request.prompt is only the rest. The task computes the rest, then generates
/// tokens.
/// Errors: see Sequence::forward. REQUIRES: the rest is not empty; all rows are labelled by
/// text_label; `context` outlives the task.
Task<Stream> continue_prompt(Sequence sequence, StreamRequest request,
                             const DecoderContext& context);

/// The decoder's entry in the registry (decoders()).
DecoderEntry ar_entry();

}  // namespace pardec
