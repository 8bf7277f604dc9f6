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

/// `count` different prompts from a seed, with categories in turn. A prompt is a task with one of
/// its subjects or with random numbers, in most cases with a request about the form of the answer.
/// `parts`: the content of datasets/made_prompts.json. ConfigError: a category has fewer different
/// prompts than needed.
std::vector<MadePrompt> make_prompts(const Json& parts, std::int64_t count, std::uint64_t seed);

}  // namespace pardec
