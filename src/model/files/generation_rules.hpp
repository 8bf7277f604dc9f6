#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// What a checkpoint's generation_config.json, or where it has none its config.json, does to logits
/// before a choice, as transformers' logits processors do. Sampling settings are none of these:
/// they are the user's.
struct GenerationRules {
  std::vector<std::pair<Tokens, double>> sequence_bias;  ///< on the last id, after the others
  double repetition_penalty = 1;
  int no_repeat_ngram_size = 0;
  std::vector<Tokens> bad_words;
  int min_length = 0;      ///< of prompt and answer together
  int min_new_tokens = 0;  ///< of the answer
  std::optional<Token> forced_bos;
  Tokens forced_eos;  ///< the last id that the limit lets in
  Tokens suppress, begin_suppress;

  std::string file;               ///< its name
  Json applied = Json::object();  ///< these, as they stand in the file; empty: there are none
  /// Settings that would change greedy answers, or end them, and are not applied, e.g.
  /// "num_beams 4".
  std::vector<std::string> left_out;

  bool none() const { return applied.empty(); }
};

/// `json` is the content of one of these files, `where` its path. ModelError for a
/// value of the wrong type or out of its range.
GenerationRules parse_generation_rules(const Json& json, const std::string& where, int vocab_size);

}  // namespace pardec
