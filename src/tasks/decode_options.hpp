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
  /// temperature 0: the most probable token is chosen (greedy). top_p 1 and top_k 0: no
  /// restriction.
  double temperature = 0, top_p = 1;
  int top_k = 0, max_new_tokens = Limits{}.max_new_tokens;  ///< max_new_tokens: see Limits
  /// Limits::per_field; none: the dataset's limit, or the default (see `limits`)
  std::optional<int> per_field;
  std::uint64_t seed = 1;   ///< seed of sampling
  bool ignore_eos = false;  ///< see DecoderContext
  /// whether to ignore the rules about logits in the checkpoint's generation_config.json
  bool no_generation_config = false;
  /// more tokens that end answers, in addition to the network's own (--eos)
  std::vector<std::string> eos;
  /// `chat_template`, `chat_set`: for template_for. `prompt_file`: a name or path; empty: the
  /// default of the dataset or job.
  std::string chat_template = "auto", prompt_file;
  std::vector<std::string> chat_set;
  std::string thinking = "strip";  ///< keep, strip or off (parse_thinking)
  /// The limits of answers. `answer_ids`: the limit per field if `per_field` is none; 0: the
  /// default of Limits.
  Limits limits(int answer_ids = 0) const {
    return {max_new_tokens, per_field.value_or(answer_ids > 0 ? answer_ids : Limits{}.per_field)};
  }
  /// The sampling settings. ConfigError: the values do not define a distribution, or a limit of
  /// answers is less than 1.
  Sampling sampling() const;
};

/// A message about the rules in the checkpoint's generation_config.json: one sentence about rules
/// that are applied, and one about rules that are not. `left_out`: true if the user asked not to
/// apply the rules. Empty: there are no rules.
std::string generation_note(const GenerationRules& rules, bool left_out);

}  // namespace pardec
