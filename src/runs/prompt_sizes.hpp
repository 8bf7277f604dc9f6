#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/checkpoint/checkpoint.hpp"
#include "src/runs/workload.hpp"

namespace pardec {

/// The number of positions that an arm's jobs need on one dataset: the smallest, the largest, and
/// the jobs that fail.
struct PromptSizes {
  std::optional<std::int64_t> least;  ///< none: no prompt can be made
  std::int64_t most = 0;
  std::int64_t too_long = 0;  ///< number of jobs that exceed the network's positions
  /// number of jobs without a valid prompt; `why` is the reason for the first of them
  std::int64_t refused = 0;
  std::string why;
};

/// Tokenizes all prompts of an arm on one dataset. `one_more` is called for each prompt. REQUIRES:
/// the checkpoint has a tokenizer.
PromptSizes prompt_sizes(const RunSpec& spec, const Workload& work, size_t arm,
                         const CheckpointFace& face, const ChatTemplate& chat,
                         const std::function<void()>& one_more);

}  // namespace pardec
