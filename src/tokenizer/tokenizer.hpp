#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// A Hugging Face `tokenizer.json`, with the added and special tokens that the files beside it name
/// (tokens_beside.hpp): ids equal those of transformers, and of PyPI `tokenizers`, on every text,
/// but for letters and digits newer than the installed Oniguruma's Unicode (pattern.hpp). Its
/// `truncation` and `padding` are left aside: a prompt is never cut unseen. A text is a RunError,
/// which names the file, where a regular expression goes back over it again and again, or
/// components make a text many times as long of it. Thread-safe once loaded.
class Tokenizer {
 public:
  /// A file that is missing, malformed or uses a component that is not known here is a ModelError
  /// that names it.
  static Tokenizer load(const std::filesystem::path& tokenizer_json);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// Ids of a whole text, as `encode(text, add_special_tokens)` of PyPI `tokenizers`: normalised,
  /// cut at added tokens, pre-tokenized, merged; `add_special` runs the post-processor
  /// (beginning-of-sequence token).
  Tokens encode(std::string_view text, bool add_special) const;

  /// Ids of one piece of a text that is tokenized piece by piece. Only the first piece (the first
  /// that is not empty) gets what belongs to a text's beginning: the dummy prefix (Prepend,
  /// Metaspace) before its first stretch of plain text and the post-processor's leading tokens.
  /// What stands behind an added token inside a piece is tokenized as in a whole text, so that
  /// pieces which are cut beside added tokens have its ids; Strip leaves the ends that other
  /// pieces go on from. decode(pieces joined, skip_special) is the normalised text where none has
  /// an added token; with Metaspace, which puts no prefix before a space, a space at the text's
  /// very beginning is lost, as with PyPI `tokenizers`. Without `add_special` the post-processor's
  /// tokens are left out, as where the text spells them itself.
  Tokens encode_piece(std::string_view text, bool first, bool add_special = true) const;

  /// As `decode(ids, skip_special_tokens)`; bytes that are no UTF-8 come out as U+FFFD, as there.
  /// Ids that the vocabulary lacks are left out.
  std::string decode(const Tokens& ids, bool skip_special) const;

  /// The bytes that one token stands for when it is not at a text's beginning ("▁" is a space,
  /// "<0x0A>" a line break); special tokens and unknown ids have none. Concatenated over an answer
  /// they are its text before U+FFFD repair, so stop texts can be looked for token by token.
  std::string_view bytes(Token id) const;

  std::optional<Token> id(std::string_view token) const;
  /// The vocabulary's own spelling, empty where there is none.
  std::string_view token(Token id) const;
  bool is_special(Token id) const;
  /// Highest id + 1, added tokens included.
  int vocab_size() const;
  /// `added_tokens` of a tokenizer.json with all of them.
  OrderedJson added_tokens() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

/// The text of a tokenizer.json that needs no file beside it: with all added tokens. ModelError as
/// Tokenizer::load.
std::string complete_tokenizer(const std::filesystem::path& tokenizer_json);

}  // namespace pardec
