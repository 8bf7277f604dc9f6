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

/// The JSON answer of `references` (json_answer.hpp) in parts: every context's values are a block,
/// titles are field names, a branch is a line. Its restored text is the answer that AR is taught.
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

/// ASPD's training sequence: prompt and answer in flattened order under the labels of decoding;
/// every token of the answer is a target of the one before it, forced ones and the next branch's
/// <Branch> too. Under Same-Re a block's moved copy stands behind it, unscored: its rows are only
/// seen, as in decoding. The last token is a target alone. REQUIRES: the last part is serial and
/// not empty.
TrainingSample aspd_sample(const Tokens& prompt, const std::vector<AspdIds>& answer,
                           const AspdOptions& options, const AspdTokens& tokens,
                           const Tokenizer& tokenizer);

struct AspdFormatOptions {
  AspdOptions decoder;
  bool together = true;      ///< one JSON answer; else a field's own text, ended by `eos`
  std::optional<Token> eos;  ///< REQUIRED for together = false, and for open answers
};

/// The format over `tokenizer`, which outlives it. Of a conversation the first answer is learned,
/// where it fits. ConfigError: tokens that are not found, an
/// answer that is not written as above, a sequence beyond `context_length` positions.
std::unique_ptr<TrainingFormat> make_aspd_format(const AspdFormatOptions& options,
                                                 const Tokenizer& tokenizer, int context_length,
                                                 int vocab_size);

/// What `train` calls them, and their flags.
std::vector<FormatEntry> aspd_formats();
std::vector<TrainingOption> aspd_training_options();

}  // namespace pardec
