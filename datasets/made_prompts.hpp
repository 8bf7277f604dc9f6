#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// A generated open prompt.
struct MadePrompt {
  std::string category, prompt;
};

/// Generates `count` different prompts, from all categories in turn. A prompt is a task with one of
/// its subjects or with random numbers, and in most cases a request about the form of the answer.
/// `parts`: the content of datasets/made_prompts.json. The result depends only on the arguments.
/// ConfigError: a category does not have enough different prompts.
std::vector<MadePrompt> make_prompts(const Json& parts, std::int64_t count, std::uint64_t seed);

}  // namespace pardec
