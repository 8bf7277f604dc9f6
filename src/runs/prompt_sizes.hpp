#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/checkpoint/checkpoint.hpp"
#include "src/runs/workload.hpp"

namespace pardec {

/// Positions of the network that an arm's jobs need on one dataset.
struct PromptSizes {
  std::optional<std::int64_t> least;  ///< none: no job can be asked
  std::int64_t most = 0;
  std::int64_t too_long = 0;  ///< jobs that need more than the network has
  std::int64_t refused = 0;   ///< jobs that cannot be asked at all, the first one why
  std::string why;
};

/// Tokenizes all prompts of an arm on one dataset; `one_more` is called for each. REQUIRES: the
/// face has a tokenizer.
PromptSizes prompt_sizes(const RunSpec& spec, const Workload& work, size_t arm,
                         const CheckpointFace& face, const ChatTemplate& chat,
                         const std::function<void()>& one_more);

}  // namespace pardec
