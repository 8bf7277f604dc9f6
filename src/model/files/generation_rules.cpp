#include "src/model/files/generation_rules.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Reads the values of one file.
class Reader {
 public:
  Reader(const Json& json, std::string where, int vocab)
      : json_(json), where_(std::move(where)), vocab_(vocab) {}

  /// Null if the key is missing or its value is null.
  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  [[noreturn]] void refuse(const char* key, const std::string& expected) const {
    throw ModelError(where_, str("'", key, "' is ", dump(*find(key)), ", expected ", expected));
  }

  int count(const char* key) const {
    const Json* value = find(key);
    if (!value) return 0;
    if (!value->is_number_integer() || *value < 0 || *value > std::numeric_limits<int>::max())
      refuse(key, "a whole number, 0 or more");
    return value->get<int>();
  }

  Token token(const char* key, const Json& value) const {
    if (!value.is_number_integer() || value < 0 || value >= vocab_)
      refuse(key, str("token ids, 0 to ", vocab_ - 1));
    return value.get<Token>();
  }

  /// One id, or a list of ids.
  Tokens tokens(const char* key) const {
    const Json* value = find(key);
    if (!value) return {};
    return value->is_array() ? list(key, *value) : Tokens{token(key, *value)};
  }

  Tokens list(const char* key, const Json& values) const {
    if (!values.is_array()) refuse(key, "lists of token ids");
    Tokens ids;
    for (const Json& value : values) ids.push_back(token(key, value));
    return ids;
  }

  /// Lists of ids, none of them empty.
  std::vector<Tokens> lists(const char* key) const {
    const Json* values = find(key);
    if (!values) return {};
    if (!values->is_array()) refuse(key, "a list of lists of token ids");
    std::vector<Tokens> all;
    for (const Json& one : *values) {
      all.push_back(list(key, one));
      if (all.back().empty()) refuse(key, "lists of at least one token id");
    }
    return all;
  }

  /// Pairs [[ids], bias].
  std::vector<std::pair<Tokens, double>> biases(const char* key) const {
    const Json* values = find(key);
    if (!values) return {};
    const char* expected = "a list of pairs [[token ids], bias]";
    if (!values->is_array()) refuse(key, expected);
    std::vector<std::pair<Tokens, double>> all;
    for (const Json& one : *values) {
      if (!one.is_array() || one.size() != 2 || !one[1].is_number()) refuse(key, expected);
      all.emplace_back(list(key, one[0]), one[1].get<double>());
      if (all.back().first.empty()) refuse(key, expected);
    }
    return all;
  }

 private:
  const Json& json_;
  std::string where_;
  int vocab_;
};

/// Settings that transformers also applies to greedy search, or that replace greedy search, with
/// the value that has no effect.
std::vector<std::string> settings_left_out(const Reader& read) {
  struct Setting {
    const char* key;
    Json neutral;
  };
  static const std::array kSettings{
      Setting{"num_beams", 1},
      Setting{"num_beam_groups", 1},
      Setting{"num_return_sequences", 1},
      Setting{"penalty_alpha", 0},
      Setting{"dola_layers", nullptr},
      Setting{"constraints", nullptr},
      Setting{"force_words_ids", nullptr},
      Setting{"guidance_scale", 1},
      Setting{"encoder_repetition_penalty", 1},
      Setting{"encoder_no_repeat_ngram_size", 0},
      Setting{"exponential_decay_length_penalty", nullptr},
      Setting{"diversity_penalty", 0},
      Setting{"remove_invalid_values", false},
      Setting{"watermarking_config", nullptr},
      Setting{"token_healing", false},
      Setting{"stop_strings", nullptr},
      Setting{"max_time", nullptr},
  };
  std::vector<std::string> all;
  for (const Setting& setting : kSettings)
    if (const Json* value = read.find(setting.key); value && *value != setting.neutral)
      all.push_back(str(setting.key, " ", dump(*value)));
  return all;
}

}  // namespace

GenerationRules parse_generation_rules(const Json& json, const std::string& where, int vocab_size) {
  const Reader read(json, where, vocab_size);
  GenerationRules rules;
  rules.file = std::filesystem::path(where).filename().string();
  const auto note = [&](const char* key, bool changes) {
    if (changes) rules.applied[key] = *read.find(key);
  };
  rules.sequence_bias = read.biases("sequence_bias");
  note("sequence_bias", !rules.sequence_bias.empty());
  if (const Json* penalty = read.find("repetition_penalty")) {
    if (!penalty->is_number() || !(penalty->get<double>() > 0))
      read.refuse("repetition_penalty", "a number above 0");
    rules.repetition_penalty = penalty->get<double>();
  }
  note("repetition_penalty", rules.repetition_penalty != 1);
  rules.no_repeat_ngram_size = read.count("no_repeat_ngram_size");
  note("no_repeat_ngram_size", rules.no_repeat_ngram_size > 0);
  rules.bad_words = read.lists("bad_words_ids");
  note("bad_words_ids", !rules.bad_words.empty());
  rules.min_length = read.count("min_length");
  note("min_length", rules.min_length > 0);
  rules.min_new_tokens = read.count("min_new_tokens");
  note("min_new_tokens", rules.min_new_tokens > 0);
  if (const Json* bos = read.find("forced_bos_token_id"))
    rules.forced_bos = read.token("forced_bos_token_id", *bos);
  note("forced_bos_token_id", rules.forced_bos.has_value());
  rules.forced_eos = read.tokens("forced_eos_token_id");
  note("forced_eos_token_id", !rules.forced_eos.empty());
  rules.suppress = read.tokens("suppress_tokens");
  note("suppress_tokens", !rules.suppress.empty());
  rules.begin_suppress = read.tokens("begin_suppress_tokens");
  note("begin_suppress_tokens", !rules.begin_suppress.empty());
  rules.left_out = settings_left_out(read);
  return rules;
}

}  // namespace pardec
