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

/// A Hugging Face `tokenizer.json`, or the same from a GGUF file (gguf_tokenizer.hpp), with the
/// added and special tokens from the files next to it (tokens_beside.hpp). For every text, ids
/// equal those of transformers and of PyPI `tokenizers`, except for letters and digits newer than
/// the installed Oniguruma's Unicode (pattern.hpp). `truncation` and `padding` are ignored: a
/// prompt is never truncated silently. RunError, which names the file: a regular expression
/// backtracks too often on a text, or components enlarge a text many times. Thread-safe after
/// loading.
class Tokenizer {
 public:
  /// Reads a tokenizer.json or a GGUF file. ModelError, which names the file: the file is missing
  /// or malformed, or uses an unsupported component.
  static Tokenizer load(const std::filesystem::path& tokenizer_json);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// The ids of a whole text, as `encode(text, add_special_tokens)` of PyPI `tokenizers`: the text
  /// is split at added tokens, normalised, pre-tokenized and merged. `add_special` runs the
  /// post-processor (beginning-of-sequence token).
  Tokens encode(std::string_view text, bool add_special) const;

  /// The ids of one piece of a text that is tokenized piece by piece. Only the first piece (the
  /// first that is not empty) gets the additions for the beginning of a text: the dummy prefix
  /// (Prepend, Metaspace) before its first stretch of plain text, and the post-processor's leading
  /// tokens. Text after an added token inside a piece is tokenized as in a whole text, so that
  /// pieces that are divided at added tokens have the same ids as the whole text. Strip does not
  /// apply at ends where other pieces continue. If no piece has an added token, decode(pieces
  /// joined, skip_special) is the normalised text. Exception: Metaspace adds no prefix before a
  /// space, so that a space at the beginning of the text is lost, as in PyPI `tokenizers`. Without
  /// `add_special`, the post-processor's tokens are left out, for texts that already contain them.
  Tokens encode_piece(std::string_view text, bool first, bool add_special = true) const;

  /// As `decode(ids, skip_special_tokens)` of PyPI `tokenizers`; invalid UTF-8 becomes U+FFFD, as
  /// there. Ids that are not in the vocabulary are left out.
  std::string decode(const Tokens& ids, bool skip_special) const;

  /// The bytes of one token inside a text ("▁" is a space, "<0x0A>" a line break). Special tokens
  /// and unknown ids have none. The bytes of an answer's tokens, concatenated, are its text before
  /// the U+FFFD repair; thus stop texts can be searched token by token.
  std::string_view bytes(Token id) const;

  std::optional<Token> id(std::string_view token) const;
  /// The token in the vocabulary's spelling; empty if there is none.
  std::string_view token(Token id) const;
  bool is_special(Token id) const;
  /// Highest id + 1, including added tokens.
  int vocab_size() const;
  /// `added_tokens` of a tokenizer.json, with all added tokens.
  OrderedJson added_tokens() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

/// The text of an equivalent tokenizer.json that contains all added tokens and needs no other
/// files. ModelError as in Tokenizer::load.
std::string complete_tokenizer(const std::filesystem::path& tokenizer_json);

}  // namespace pardec
