#pragma once
#include <memory>

#include "decoders/decoder.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// AR's training sequences: causal, natural positions, with loss on the whole answer, or in a
/// conversation on all answers.
struct ArFormatOptions {
  /// one JSON answer; otherwise one sequence per field, which ends with `eos`
  bool together = true;
  int stack = 1;             ///< J: number of contexts in one prompt
  std::optional<Token> eos;  ///< REQUIRED for together = false, and for open answers
};

/// A prompt followed by the answer. Every token of the answer is a target, except those with
/// unknown[i] (i: index in the answer; an empty list: no token is unknown). The last token is only
/// a target, not an input.
TrainingSample causal_sample(const Tokens& prompt, const Tokens& answer,
                             const std::vector<bool>& unknown = {});

/// The ids of the JSON answer after `<result>`, through `</result>`. Keys and values are tokenized
/// separately; the line break between a value and the next key belongs to the value. Thus values
/// have exactly the ids that HPD generates for them, and one network can be trained on both
/// formats. (If values ended with `",` in one format and with `",\n` in the other, a prompt with
/// one field would not show which end is expected.)
struct JsonAnswerIds {
  std::vector<Tokens> keys, values;  ///< context-major
  Tokens tail;

  /// key, value, key, value, ..., tail.
  Tokens joined() const;
  /// For each id of `joined`, whether it belongs to an unknown value. `of`: TrainingExample's
  /// `unknown`, by context and field.
  std::vector<bool> unknown(const std::vector<std::vector<bool>>& of) const;
};
JsonAnswerIds json_answer_ids(const TrainingExample& example, const Tokenizer& tokenizer);

/// The format based on `tokenizer`, which must outlive it. Absent references are trained as "n/a";
/// unknown ones are inputs with that text. ConfigError: a sequence beyond `context_length`
/// positions.
std::unique_ptr<TrainingFormat> make_ar_format(const ArFormatOptions& options,
                                               const Tokenizer& tokenizer, int context_length);

/// The entries of `train`'s formats, and their flags.
std::vector<FormatEntry> ar_formats();
std::vector<TrainingOption> ar_training_options();

}  // namespace pardec
