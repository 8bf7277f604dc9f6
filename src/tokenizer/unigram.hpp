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
/// tokens whose log-probabilities have the largest sum. A character that no token begins with or
/// equals costs 10 more than the least likely token. Immutable.
class Unigram {
 public:
  /// Reads the object `model` of a tokenizer.json. ConfigError, which starts with `where`: the
  /// object is invalid.
  Unigram(const Json& json, const std::string& where);

  /// Appends the ids of one word to `out`. A stretch that is no token becomes the tokens of its
  /// bytes, if the model has them, or else the unknown token, or else is left out. REQUIRES: `word`
  /// is valid UTF-8.
  void encode(std::string_view word, Tokens& out) const;

  const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  struct Step;
  /// For each position in the word, the last step of the best way to it.
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
