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

/// A tokenizer from a Hugging Face `tokenizer.json`, with the added and special tokens from the
/// files next to it (tokens_beside.hpp), from a tokenizer.model of SentencePiece
/// (sentencepiece_model.hpp), or from a GGUF file (gguf_tokenizer.hpp). Its ids equal
/// those of transformers and of PyPI `tokenizers`, except for letters and digits that are newer
/// than the installed Oniguruma's Unicode (pattern.hpp). The options `truncation` and `padding` of
/// the file are ignored, so that no prompt is truncated silently. Thread-safe after loading.
/// Encoding and decoding throw RunError, which names the file: a regular expression backtracks too
/// often on a text, or components enlarge a text too much.
class Tokenizer {
 public:
  /// Reads a tokenizer.json, tokenizer.model or GGUF file. ModelError, which names the file: the
  /// file is missing or malformed, or uses an unsupported component.
  static Tokenizer load(const std::filesystem::path& tokenizer_json);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// The ids of a whole text, as `encode(text, add_special_tokens)` of PyPI `tokenizers`. Invalid
  /// UTF-8 is first replaced by U+FFFD. `add_special`: whether the post-processor adds its tokens,
  /// e.g. the beginning of sequence.
  Tokens encode(std::string_view text, bool add_special) const;

  /// The ids of one piece of a text that is tokenized piece by piece. `first`: whether this is the
  /// first piece that is not empty. Only the first piece gets the additions for the beginning of a
  /// text: the dummy prefix (Prepend, Metaspace) before its first stretch of plain text, and, with
  /// `add_special`, the post-processor's leading tokens. No piece gets its trailing tokens. Text
  /// after an added token within a piece is tokenized as in a whole text. Therefore, if a text is
  /// divided at added tokens, the pieces have the same ids as the whole text. Strip does not apply
  /// at ends where another piece continues. If no piece has an added token, decoding the
  /// concatenated ids gives the normalised text, with one exception: Metaspace adds no prefix
  /// before a space, so a space at the beginning of the text is lost, as in PyPI `tokenizers`.
  Tokens encode_piece(std::string_view text, bool first, bool add_special = true) const;

  /// The text of ids, as `decode(ids, skip_special_tokens)` of PyPI `tokenizers`. Invalid UTF-8
  /// becomes U+FFFD. Ids that are not in the vocabulary are left out.
  std::string decode(const Tokens& ids, bool skip_special) const;

  /// The bytes that a token stands for within a text ("▁" is a space, "<0x0A>" a line break). Empty
  /// for unknown ids and for special tokens, except marks of thoughts such as <think>
  /// (names_thought). The concatenated bytes of an answer's tokens are its text before invalid
  /// UTF-8 is replaced. Thus stop strings can be found while tokens are generated.
  std::string_view bytes(Token id) const;

  /// The id of a token, written as in the vocabulary; none: there is no such token.
  std::optional<Token> id(std::string_view token) const;
  /// The token as written in the vocabulary; empty if the id is unknown.
  std::string_view token(Token id) const;
  /// Whether the id is an added token with the flag `special`.
  bool is_special(Token id) const;
  /// The highest id + 1, including added tokens.
  int vocab_size() const;
  /// All added tokens as the array `added_tokens` of a tokenizer.json.
  OrderedJson added_tokens() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

/// The content of a tokenizer.json that is equivalent to the file `tokenizer_json`, and includes
/// all added tokens, so that it needs no other files. ModelError: see Tokenizer::load. REQUIRES:
/// the file is not a GGUF file.
std::string complete_tokenizer(const std::filesystem::path& tokenizer_json);

}  // namespace pardec
