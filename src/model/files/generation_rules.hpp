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
  /// Entries (ids, bias). The bias is added to the logit of the last id of `ids` if the other ids
  /// are the last tokens of the text so far.
  std::vector<std::pair<Tokens, double>> sequence_bias;
  double repetition_penalty = 1;  ///< for ids that are already in the text; 1: no penalty
  int no_repeat_ngram_size = 0;   ///< length of n-grams that must not occur twice; 0: no limit
  /// Sequences of ids that must not occur. A sequence of one id is ignored if the id ends answers.
  std::vector<Tokens> bad_words;
  /// minimum length of prompt and answer together, in tokens; until then, no id ends the answer
  int min_length = 0;
  /// minimum length of the answer, in tokens; until then, no id ends the answer
  int min_new_tokens = 0;
  /// The id that is forced as the second token of the text. (This is the answer's first token if
  /// the prompt has one token. With a longer prompt, the rule has no effect.)
  std::optional<Token> forced_bos;
  /// If an answer reaches the length limit, its last token is forced to the smallest of these ids;
  /// empty: no rule.
  Tokens forced_eos;
  /// `suppress`: ids that cannot be chosen. `begin_suppress`: ids that cannot be the first token of
  /// the answer.
  Tokens suppress, begin_suppress;

  std::string file;               ///< name of the file with the rules, without its folder
  Json applied = Json::object();  ///< these rules as written in the file; empty: no rules
  /// Settings that would change or end greedy answers but are not applied, e.g. "num_beams 4".
  std::vector<std::string> left_out;

  bool none() const { return applied.empty(); }
};

/// Reads the rules from `json`, the content of generation_config.json or config.json. `where`: the
/// file's path. `vocab_size`: number of ids of the network. ModelError: a value has the wrong type
/// or is out of range.
GenerationRules parse_generation_rules(const Json& json, const std::string& where, int vocab_size);

}  // namespace pardec
