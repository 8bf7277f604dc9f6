#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/model/files/generation_rules.hpp"
#include "src/prompt/job.hpp"

namespace pardec {

/// Options for generating answers.
struct DecodeOptions {
  double temperature = 0, top_p = 1;
  int top_k = 0, max_new_tokens = Limits{}.max_new_tokens;
  std::optional<int> per_field;  ///< none: as defined by the request
  std::uint64_t seed = 1;
  bool ignore_eos = false;
  /// ignores the rules for logits in the checkpoint's generation config
  bool no_generation_config = false;
  /// tokens that end answers in addition to the network's own (--eos)
  std::vector<std::string> eos;
  std::string chat_template = "auto", prompt_file;
  std::vector<std::string> chat_set;
  std::string thinking = "strip";  ///< for parse_thinking
  /// `answer_ids`: a field's limit if no flag sets one; 0: the usual limit.
  Limits limits(int answer_ids = 0) const {
    return {max_new_tokens, per_field.value_or(answer_ids > 0 ? answer_ids : Limits{}.per_field)};
  }
  /// ConfigError: the values do not define a distribution.
  Sampling sampling() const;
};

/// A message about the effects of the checkpoint's generation_config.json on answers: one sentence
/// for each of the rules that are applied, left out on request, or not supported; empty: there are
/// none.
std::string generation_note(const GenerationRules& rules, bool left_out);

}  // namespace pardec
