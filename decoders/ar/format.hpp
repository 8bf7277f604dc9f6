#pragma once
#include <memory>

#include "decoders/decoder.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// AR's training sequences: plainly causal, natural positions, loss on the whole answer, in a
/// conversation on all answers.
struct ArFormatOptions {
  bool together = true;      ///< one JSON answer; else one sequence a field, ended by `eos`
  int stack = 1;             ///< J: contexts in one prompt
  std::optional<Token> eos;  ///< REQUIRED for together = false, and for open answers
};

/// A prompt and the answer that should follow it; every answer token is a target but those that are
/// `unknown` (by place in the answer; empty: none), its last never an input.
TrainingSample causal_sample(const Tokens& prompt, const Tokens& answer,
                             const std::vector<bool>& unknown = {});

/// The JSON answer behind `<result>` as ids, through `</result>`, cut line by line: key, value
/// through its line break, next key without that line break. Values so have the very ids that HPD
/// chooses for them, and one network can speak both formats: were a value here ended by `",` and
/// there by `",\n`, nothing in a prompt of one field could tell the network which.
struct JsonAnswerIds {
  std::vector<Tokens> keys, values;  ///< context-major
  Tokens tail;

  /// key, value, key, value, ..., tail
  Tokens joined() const;
  /// Of each of these whether it belongs to a value that is unknown. `of`: as TrainingExample has
  /// it.
  std::vector<bool> unknown(const std::vector<std::vector<bool>>& of) const;
};
JsonAnswerIds json_answer_ids(const TrainingExample& example, const Tokenizer& tokenizer);

/// The format over `tokenizer`, which outlives it. Absent references are taught as "n/a",
/// unknown ones fed so. A sequence beyond `context_length` positions is a ConfigError.
std::unique_ptr<TrainingFormat> make_ar_format(const ArFormatOptions& options,
                                               const Tokenizer& tokenizer, int context_length);

/// What `train` calls them, and their flags.
std::vector<FormatEntry> ar_formats();
std::vector<TrainingOption> ar_training_options();

}  // namespace pardec
