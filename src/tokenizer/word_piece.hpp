#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "src/support/json.hpp"
#include "src/support/types.hpp"
#include "src/tokenizer/vocabulary.hpp"

namespace pardec {

/// BERT's tokens (Devlin et al. 2019, arXiv:1810.04805). A word is divided from left to right: at
/// each place, the longest token that matches is taken. In the vocabulary, tokens that continue a
/// word have a prefix ("##"). Immutable.
class WordPiece {
 public:
  /// Reads the object `model` of a tokenizer.json. ConfigError, which starts with `where`: the
  /// object is invalid.
  WordPiece(const Json& json, const std::string& where);

  /// Appends the ids of one word to `out`. The whole word becomes the unknown token if it has more
  /// characters than the model allows (`max_input_chars_per_word`), or if no token matches at some
  /// place. REQUIRES: `word` is valid UTF-8.
  void encode(std::string_view word, Tokens& out) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
  std::string prefix_;
  Token unknown_ = 0;
  int most_characters_ = 100;
};

}  // namespace pardec
