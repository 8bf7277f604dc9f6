#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// An open prompt that nobody asked.
struct MadePrompt {
  std::string category, prompt;
};

/// `count` different prompts by seed, categories in turn: a task with one of its subjects or with
/// drawn numbers, most with a wish how to answer. `parts` is datasets/made_prompts.json.
/// ConfigError: a category has not so many.
std::vector<MadePrompt> make_prompts(const Json& parts, std::int64_t count, std::uint64_t seed);

}  // namespace pardec
