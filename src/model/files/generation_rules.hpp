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
/// The rules come from a checkpoint's generation_config.json. If this file does not exist, they
/// come from config.json. Sampling settings are not included: they are the user's choice.
struct GenerationRules {
  /// Entries (ids, bias). The bias is added to the logit of the last id in `ids` if the text so far
  /// ends with the other ids.
  std::vector<std::pair<Tokens, double>> sequence_bias;
  double repetition_penalty = 1;  ///< for ids that are already in the text; 1: no penalty
  int no_repeat_ngram_size = 0;   ///< length of n-grams that must not occur twice; 0: no limit
  /// Sequences of ids that must not occur. A sequence of one id is ignored if the id ends answers.
  std::vector<Tokens> bad_words;
  /// minimum length of prompt and answer together, in tokens; until then, no id ends the answer
  int min_length = 0;
  /// minimum length of the answer, in tokens; until then, no id ends the answer
  int min_new_tokens = 0;
  /// The id that is forced as the second token of the text (prompt and answer). This is the
  /// answer's first token if the prompt has one token. With a longer prompt, the rule has no
  /// effect.
  std::optional<Token> forced_bos;
  /// If an answer reaches the length limit, its last token is forced to the smallest of these ids;
  /// empty: no rule.
  Tokens forced_eos;
  /// `suppress`: ids that cannot be chosen. `begin_suppress`: ids that cannot be the first token of
  /// the answer.
  Tokens suppress, begin_suppress;

  std::string file;  ///< name of the file with the rules, without its folder
  /// A JSON object with the keys of these rules and their values, as written in the file. Keys
  /// whose values have no effect are left out. Empty: no rules.
  Json applied = Json::object();
  /// The settings in the file that would change or end greedy answers but are not applied, each as
  /// key and value, e.g. "num_beams 4".
  std::vector<std::string> left_out;

  bool none() const { return applied.empty(); }
};

/// Reads the rules from `json`, the content of generation_config.json or config.json. `where`: the
/// file's path. `vocab_size`: number of ids of the network. ModelError: a value has the wrong type
/// or is out of range.
GenerationRules parse_generation_rules(const Json& json, const std::string& where, int vocab_size);

}  // namespace pardec
