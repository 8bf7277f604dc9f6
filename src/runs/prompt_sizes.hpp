#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/checkpoint/checkpoint.hpp"
#include "src/runs/workload.hpp"

namespace pardec {

/// The number of positions that an arm's jobs need on one dataset.
struct PromptSizes {
  std::optional<std::int64_t> least;  ///< none: no job can be requested
  std::int64_t most = 0;
  std::int64_t too_long = 0;  ///< jobs that exceed the network's positions
  /// jobs that cannot be requested at all; `why` is the reason for the first one
  std::int64_t refused = 0;
  std::string why;
};

/// Tokenizes all prompts of an arm on one dataset. `one_more` is called for each prompt. REQUIRES:
/// the checkpoint has a tokenizer.
PromptSizes prompt_sizes(const RunSpec& spec, const Workload& work, size_t arm,
                         const CheckpointFace& face, const ChatTemplate& chat,
                         const std::function<void()>& one_more);

}  // namespace pardec
