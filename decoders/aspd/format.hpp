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

/// The JSON answer of `references` (json_answer.hpp) in parts: the values of each context are a
/// block, titles are field names, and a branch is a line. The restored text is the answer that AR
/// is trained on.
std::vector<MarkupPart> aspd_json_parts(
    const std::vector<Context>& contexts,
    const std::vector<std::vector<std::optional<std::string>>>& references);

/// The ids of a part.
struct AspdIds {
  struct Branch {
    Tokens title, content;
  };
  Tokens serial;
  std::vector<Branch> branches;
};

/// ASPD's training sequence: prompt and answer in flattened order, with the labels of decoding.
/// Every token of the answer is the target of the preceding one, including forced tokens and the
/// <Branch> of the next branch. Under Same-Re, a moved copy of each block follows the block. As in
/// decoding, later rows attend to the copy; the copy has no targets. The last token is only a
/// target. REQUIRES: the last part is serial and not empty.
TrainingSample aspd_sample(const Tokens& prompt, const std::vector<AspdIds>& answer,
                           const AspdOptions& options, const AspdTokens& tokens,
                           const Tokenizer& tokenizer);

struct AspdFormatOptions {
  AspdOptions decoder;
  /// one JSON answer; otherwise the text of one field, which ends with `eos`
  bool together = true;
  std::optional<Token> eos;  ///< REQUIRED for together = false, and for open answers
};

/// The format based on `tokenizer`, which must outlive it. Of a conversation, only the first answer
/// is used, if it fits. ConfigError: control tokens are not found, an answer has invalid markup, or
/// a sequence goes beyond `context_length` positions.
std::unique_ptr<TrainingFormat> make_aspd_format(const AspdFormatOptions& options,
                                                 const Tokenizer& tokenizer, int context_length,
                                                 int vocab_size);

/// The entries of `train`'s formats, and their flags.
std::vector<FormatEntry> aspd_formats();
std::vector<TrainingOption> aspd_training_options();

}  // namespace pardec
