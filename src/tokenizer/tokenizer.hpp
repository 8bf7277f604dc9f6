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

/// A tokenizer from a Hugging Face `tokenizer.json` or a tokenizer.model of SentencePiece
/// (sentencepiece_model.hpp), with the added and special tokens from the files next to it
/// (tokens_beside.hpp), or from a GGUF file (gguf_tokenizer.hpp). Its ids equal those of
/// transformers and of PyPI `tokenizers`, except for letters and digits that are newer than the
/// installed Oniguruma's Unicode (pattern.hpp). The options `truncation` and `padding` of the file
/// are ignored, so that no prompt is truncated silently. Thread-safe after loading. Encoding and
/// decoding throw RunError, which names the file: a regular expression backtracks too often on a
/// text, or components enlarge a text too much.
class Tokenizer {
 public:
  /// Reads a tokenizer.json, tokenizer.model or GGUF file. The tokens in the files next to this
  /// file are added only if its name is tokenizer.json or tokenizer.model. ModelError, which names
  /// the file at fault: the file is missing or malformed, or uses an unsupported component; or
  /// another file in its folder is malformed.
  static Tokenizer load(const std::filesystem::path& tokenizer_json);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// The ids of a whole text, as `encode(text, add_special_tokens)` of PyPI `tokenizers`. Invalid
  /// UTF-8 is first replaced by U+FFFD. `add_special`: whether the post-processor adds its tokens,
  /// e.g. the beginning of sequence.
  Tokens encode(std::string_view text, bool add_special) const;

  /// The ids of one piece of a text that is tokenized piece by piece. `first`: whether this is the
  /// first piece that is not empty. `add_special`: see the first rule.
  /// - Only the first piece gets the additions for the beginning of a text: the dummy prefix
  ///   (Prepend, Metaspace, or ByteLevel's add_prefix_space) before its first stretch of plain
  ///   text, and, with `add_special`, the post-processor's leading tokens. No piece gets the
  ///   post-processor's trailing tokens.
  /// - Text after an added token within a piece is tokenized as in a whole text. So if each later
  ///   piece begins with an added token, the concatenated ids of the pieces equal the ids of the
  ///   whole text. This does not hold for tokenizers that strip white space before an added token
  ///   (Strip, or the flag `lstrip`), nor if a token has the flag `single_word`.
  /// - The normaliser Strip does not strip the end of a piece, nor the beginning of a later piece.
  /// - If no piece has an added token, decoding the concatenated ids gives the normalised text,
  ///   with one exception: Metaspace adds no prefix before a space, so a space at the beginning of
  ///   the text is lost, as in PyPI `tokenizers`.
  Tokens encode_piece(std::string_view text, bool first, bool add_special = true) const;

  /// The text of ids, as `decode(ids, skip_special_tokens)` of PyPI `tokenizers`. Invalid UTF-8
  /// becomes U+FFFD. Ids that are not in the vocabulary are left out. If the file has no decoder,
  /// the tokens are joined with spaces.
  std::string decode(const Tokens& ids, bool skip_special) const;

  /// The bytes that a token adds in the middle of a text ("▁" adds a space, "<0x0A>" a line break).
  /// Empty for unknown ids and for special tokens, except marks of thoughts such as <think>
  /// (names_thought). If the file has a decoder, the concatenated bytes of an answer's tokens are
  /// the answer's text before invalid UTF-8 is replaced; a space at the beginning that decode
  /// removes is still there. Thus stop strings can be found while tokens are generated.
  std::string_view bytes(Token id) const;

  /// The id of a token that is written as in the vocabulary; none: there is no such token.
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

/// The content of a tokenizer.json that is equivalent to `tokenizer_json`, a tokenizer.json or
/// tokenizer.model. The content includes all added tokens, so that it needs no other files.
/// ModelError: see Tokenizer::load. REQUIRES: the file is not a GGUF file.
std::string complete_tokenizer(const std::filesystem::path& tokenizer_json);

}  // namespace pardec
