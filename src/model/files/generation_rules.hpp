#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// The rules that change logits before a token is chosen, as transformers' logits processors do.
/// They come from a checkpoint's generation_config.json. If it does not exist, they come from
/// config.json. Sampling settings are not included: they are the user's choice.
struct GenerationRules {
  /// Per entry (ids, bias): the bias is added to the logit of the last id if the other ids come
  /// directly before it.
  std::vector<std::pair<Tokens, double>> sequence_bias;
  double repetition_penalty = 1;
  int no_repeat_ngram_size = 0;
  std::vector<Tokens> bad_words;
  int min_length = 0;      ///< minimum length of prompt and answer together, in tokens
  int min_new_tokens = 0;  ///< minimum length of the answer, in tokens
  std::optional<Token> forced_bos;
  Tokens forced_eos;  ///< forced as the last token before the length limit
  Tokens suppress, begin_suppress;

  std::string file;               ///< file name
  Json applied = Json::object();  ///< the rules above as written in the file; empty: no rules
  /// Settings that would change or end greedy answers but are not applied, e.g. "num_beams 4".
  std::vector<std::string> left_out;

  bool none() const { return applied.empty(); }
};

/// `json`: the content of generation_config.json or config.json; `where`: the file's path.
/// ModelError: a value of the wrong type or out of range.
GenerationRules parse_generation_rules(const Json& json, const std::string& where, int vocab_size);

}  // namespace pardec
