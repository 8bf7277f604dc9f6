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
  std::optional<int> per_field;  ///< none: the request decides
  std::uint64_t seed = 1;
  bool ignore_eos = false;
  /// whether to ignore the rules about logits in the checkpoint's generation_config.json
  bool no_generation_config = false;
  /// more tokens that end answers, in addition to the network's own (--eos)
  std::vector<std::string> eos;
  std::string chat_template = "auto", prompt_file;
  std::vector<std::string> chat_set;
  std::string thinking = "strip";  ///< for parse_thinking
  /// The limits of answers. `answer_ids`: the limit per field if no flag sets it; 0: the default.
  Limits limits(int answer_ids = 0) const {
    return {max_new_tokens, per_field.value_or(answer_ids > 0 ? answer_ids : Limits{}.per_field)};
  }
  /// ConfigError: the values do not define a distribution.
  Sampling sampling() const;
};

/// A message about the rules in the checkpoint's generation_config.json: one sentence about rules
/// that are applied, and one about rules that are not. `left_out`: the user asked not to apply
/// them. Empty: there are no rules.
std::string generation_note(const GenerationRules& rules, bool left_out);

}  // namespace pardec
