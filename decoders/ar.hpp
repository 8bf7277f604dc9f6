#pragma once
#include "decoders/free_running.hpp"

namespace pardec {

/// AR behind what `sequence` holds, all of it at natural positions: feeds the prompt of `request`,
/// which is the rest of the whole one, and continues it. REQUIRES: the rest is not empty; `context`
/// outlives the task.
Task<Stream> continue_prompt(Sequence sequence, StreamRequest request,
                             const DecoderContext& context);

/// Options: `ask`, `stack` (Asking); `forced_keys`: the answer's keys are fed, only values are
/// decoded, one after another; `prefix_cache`: what ask=separately computes once and copies for all
/// prompts that begin with it: none, instruction (system, instruction and shots, over all jobs in
/// flight) or context (and the context of a job over its fields: PC in the tables of IPPD).
std::unique_ptr<Decoder> make_ar(const Json& options);

}  // namespace pardec
