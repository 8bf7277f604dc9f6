#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// The rules of a checkpoint's generation_config.json (or of its config.json without that file)
/// that change logits before a token is chosen, as transformers' logits processors do. Sampling
/// settings are not included: they are the user's choice.
struct GenerationRules {
  /// ids and a bias on the last id when it follows the others
  std::vector<std::pair<Tokens, double>> sequence_bias;
  double repetition_penalty = 1;
  int no_repeat_ngram_size = 0;
  std::vector<Tokens> bad_words;
  int min_length = 0;      ///< of prompt and answer together, in tokens
  int min_new_tokens = 0;  ///< of the answer, in tokens
  std::optional<Token> forced_bos;
  Tokens forced_eos;  ///< forced as the last token before the length limit
  Tokens suppress, begin_suppress;

  std::string file;               ///< file name
  Json applied = Json::object();  ///< the rules above as written in the file; empty: none
  /// Settings that would change or end greedy answers but are not applied, e.g. "num_beams 4".
  std::vector<std::string> left_out;

  bool none() const { return applied.empty(); }
};

/// `json`: the content of one of these files; `where`: its path. ModelError: a value of the wrong
/// type or out of range.
GenerationRules parse_generation_rules(const Json& json, const std::string& where, int vocab_size);

}  // namespace pardec
