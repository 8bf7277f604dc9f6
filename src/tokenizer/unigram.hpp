#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"
#include "src/tokenizer/vocabulary.hpp"

namespace pardec {

/// A unigram language model of tokens (Kudo 2018, arXiv:1804.10959): a word is divided into the
/// tokens whose log-probabilities have the largest sum. A character that is not itself a token may
/// be an unknown part of the word, whose log-probability is that of the least likely token minus
/// 10. Immutable.
class Unigram {
 public:
  /// Reads the object `model` of a tokenizer.json. ConfigError, which starts with `where`: the
  /// object is invalid.
  Unigram(const Json& json, const std::string& where);

  /// Appends the ids of one word to `out`. An unknown part of the word becomes the tokens of its
  /// bytes (option `byte_fallback`) or otherwise the unknown token; if the model has neither, the
  /// part is left out. Neighbouring unknown characters are one part if the model has an unknown
  /// token. REQUIRES: `word` is valid UTF-8.
  void encode(std::string_view word, Tokens& out) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  struct Step;
  /// For each byte offset in the word, the last token of the best division of the word up to this
  /// offset.
  std::vector<Step> best_steps(std::string_view word) const;
  /// Calls `found(id, bytes)` for each token with which `text` begins.
  template <typename Found>
  void each_prefix(std::string_view text, Found found) const;
  void write(std::string_view piece, Tokens& out) const;

  Vocabulary vocabulary_;
  std::vector<double> scores_;  // by id
  std::vector<Token> sorted_;   // ids in the order of their tokens' bytes
  std::optional<Token> unknown_;
  double unknown_score_ = 0;
  bool byte_fallback_ = false;
  std::array<Token, 256> bytes_{};  // "<0x00>" .. "<0xFF>"; -1 if not in the vocabulary
};

}  // namespace pardec
