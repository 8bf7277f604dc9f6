#pragma once
#include <memory>

#include "decoders/decoder.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// Options of AR's training sequences. A sequence is a causal text. Its targets are the tokens of
/// the answer, or, in a conversation, of all answers.
struct ArFormatOptions {
  /// True: one JSON answer. False: one sequence per field, which ends with `eos`.
  bool together = true;
  int stack = 1;             ///< number of contexts in one prompt
  std::optional<Token> eos;  ///< end of sequence; needed if not `together`, and for open answers
};

/// A sequence of prompt and answer. Every token of the answer is a target, except token i if
/// unknown[i] is true (an empty list: no token is unknown). The last token is a target only, not an
/// input.
TrainingSample causal_sample(const Tokens& prompt, const Tokens& answer,
                             const std::vector<bool>& unknown = {});

/// The ids of the JSON answer after `<result>`, up to and including `</result>`. Keys and values
/// are tokenized separately, and the line break between a value and the next key belongs to the
/// value. Thus values have exactly the ids that HPD generates for them, and one network can be
/// trained on both formats. (If values ended with `",` in one format and with `",\n` in the other,
/// the network could not know from a prompt with one field which end is expected.)
struct JsonAnswerIds {
  std::vector<Tokens> keys, values;  ///< one per field, in the order of contexts and fields
  Tokens tail;                       ///< the ids after the last value

  /// The ids of the answer: key, value, key, value, ..., tail.
  Tokens joined() const;
  /// For each id of joined(), whether the id belongs to an unknown value. `of`: the member
  /// TrainingExample::unknown of the same example, [context][field]. If `of` is empty, the result
  /// is empty too.
  std::vector<bool> unknown(const std::vector<std::vector<bool>>& of) const;
};
/// The ids of an example's reference answer. REQUIRES: the example has json form. ConfigError: the
/// contexts have different fields.
JsonAnswerIds json_answer_ids(const TrainingExample& example, const Tokenizer& tokenizer);

/// Creates the training format. `tokenizer` must outlive it. The text of an absent value is "n/a".
/// In a JSON answer, an unknown value (TrainingExample::unknown) is an input but no target. If
/// fields are asked one by one, unknown values have no sequence. The format's `samples` throws
/// ConfigError if a sequence exceeds `context_length` positions (open answers are cut instead), or
/// if an open answer has no `eos`.
std::unique_ptr<TrainingFormat> make_ar_format(const ArFormatOptions& options,
                                               const Tokenizer& tokenizer, int context_length);

/// AR's training formats, and their flags of `train`.
std::vector<FormatEntry> ar_formats();
std::vector<TrainingOption> ar_training_options();

}  // namespace pardec
