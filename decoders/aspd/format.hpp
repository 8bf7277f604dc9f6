#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decoders/aspd/aspd.hpp"
#include "decoders/branch_markup.hpp"
#include "src/training/training_sample.hpp"

namespace pardec {

/// Makes the parts of the JSON answer (json_answer.hpp) that has these references. `references`:
/// [context][field]; none: the value is absent. The values of a context form a block (the branches
/// between <Para> and </Para>). Each branch is the line of one value, and the branch's title is the
/// field's name. The text without markup is the answer that AR is trained on. ConfigError: the
/// contexts have different fields.
std::vector<MarkupPart> aspd_json_parts(
    const std::vector<Context>& contexts,
    const std::vector<std::vector<std::optional<std::string>>>& references);

/// A MarkupPart whose texts are tokenized.
struct AspdIds {
  struct Branch {
    Tokens title, content;
  };
  Tokens serial;
  std::vector<Branch> branches;
};

/// ASPD's training sequence: prompt and answer in flattened order, i.e. branch after branch, with
/// the labels that decoding uses. Every token of the answer is the target of the preceding token,
/// even the tokens that decoding inserts (<Branch>, title, ":"). With Same-Re, each block is
/// followed by a copy at other positions. As in decoding, later rows attend to the copy. The copy
/// has no targets. The last token is a target only. REQUIRES: the last part is serial and not
/// empty; with the shared mask, blocks have at most kMostSharedBranches branches
/// (std::logic_error).
TrainingSample aspd_sample(const Tokens& prompt, const std::vector<AspdIds>& answer,
                           const AspdOptions& options, const AspdTokens& tokens,
                           const Tokenizer& tokenizer);

/// Options of ASPD's training sequences.
struct AspdFormatOptions {
  AspdOptions decoder;
  /// True: one JSON answer. False: the text of one field, which ends with `eos`.
  bool together = true;
  std::optional<Token> eos;  ///< end of sequence; needed if not `together`, and for open answers
};

/// Creates the training format. `tokenizer` must outlive it. The text of an absent value is "n/a".
/// Only the first answer of a conversation is used, and only if this answer is complete. An example
/// that needs more than `context_length` positions is left out. `vocab_size`: see
/// find_control_token. ConfigError: see find_aspd_tokens. The format's `samples` throws ConfigError
/// if an answer has invalid markup, if the contexts of a JSON answer have different fields, if a
/// block has too many branches for the shared mask, or if an open answer has no `eos`.
std::unique_ptr<TrainingFormat> make_aspd_format(const AspdFormatOptions& options,
                                                 const Tokenizer& tokenizer, int context_length,
                                                 int vocab_size);

/// ASPD's training formats, and their flags of `train`.
std::vector<FormatEntry> aspd_formats();
std::vector<TrainingOption> aspd_training_options();

}  // namespace pardec
