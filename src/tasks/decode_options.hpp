#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/model/files/generation_rules.hpp"
#include "src/prompt/job.hpp"

namespace pardec {

/// How answers are made.
struct DecodeOptions {
  double temperature = 0, top_p = 1;
  int top_k = 0, max_new_tokens = Limits{}.max_new_tokens;
  std::optional<int> per_field;  ///< none: what is asked says
  std::uint64_t seed = 1;
  bool ignore_eos = false;
  bool no_generation_config = false;  ///< what the checkpoint's does to logits is left out
  std::vector<std::string> eos;  ///< tokens at which answers end beside the network's own: --eos
  std::string chat_template = "auto", prompt_file;
  std::vector<std::string> chat_set;
  std::string thinking = "strip";  ///< of parse_thinking
  /// `answer_ids`: a field's limit where the flags give none; 0: as elsewhere.
  Limits limits(int answer_ids = 0) const {
    return {max_new_tokens, per_field.value_or(answer_ids > 0 ? answer_ids : Limits{}.per_field)};
  }
  /// ConfigError for values that make no distribution.
  Sampling sampling() const;
};

/// What a reader of answers should know of what the checkpoint's generation_config.json does to
/// them: a sentence each of what is applied, or left out on request, and of what is not supported;
/// empty: nothing.
std::string generation_note(const GenerationRules& rules, bool left_out);

}  // namespace pardec
