#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/prompt/job.hpp"

namespace pardec {

/// How answers are made.
struct DecodeOptions {
  double temperature = 0, top_p = 1;
  int top_k = 0, max_new_tokens = Limits{}.max_new_tokens;
  std::optional<int> per_field;  ///< none: what is asked says
  std::uint64_t seed = 1;
  bool ignore_eos = false;
  std::string chat_template = "auto", prompt_file;
  std::vector<std::string> chat_set;
  /// `answer_ids`: a field's limit where the flags give none; 0: as elsewhere.
  Limits limits(int answer_ids = 0) const {
    return {max_new_tokens, per_field.value_or(answer_ids > 0 ? answer_ids : Limits{}.per_field)};
  }
  /// ConfigError for values that make no distribution.
  Sampling sampling() const;
};

}  // namespace pardec
