#pragma once
#include "decoders/decoder.hpp"
#include "decoders/free_running.hpp"

namespace pardec {

/// How a multiple-choice question is answered.
enum class Choosing {
  written,        ///< the answer is generated as text
  likelihood,     ///< the choice with the highest log-probability
  per_character,  ///< the choice with the highest log-probability divided by its length
};

/// Answers each field that has at least two choices with one of the choices. `decoder` generates
/// the answers to all other fields. (lm-eval's `acc` and `acc_norm` are the accuracies of
/// `likelihood` and `per_character`.)
///
/// The possible answers are the letters if the prompt shows them (Pieces::lettered), otherwise the
/// choices. The log-probability of an answer is the sum over its tokens after the prompt; a space
/// precedes the answer, unless the prompt ends with white space. Of equally good choices, the first
/// is taken. Lengths are in Unicode characters, without the space. All choices of a field are
/// computed in one forward pass, in branches that see the prompt and themselves. An oracle has no
/// effect on a field with choices, since the cost does not depend on which choice is taken.
///
/// ConfigError: there is no tokenizer, a prompt has no token, or a choice is empty. ModelError:
/// context overflow. Other errors: see Sequence::forward and FreeRunningDecoder::stream.
/// REQUIRES: the request has value form; `choosing` is not `written`; all arguments outlive the
/// task.
Task<Answers> choose_answers(const FreeRunningDecoder& decoder, Choosing choosing,
                             const Request& request, const DecoderContext& context);

}  // namespace pardec
