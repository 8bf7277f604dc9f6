#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/checkpoint/checkpoint.hpp"
#include "src/runs/workload.hpp"

namespace pardec {

/// How many positions an arm's jobs need on one dataset (Decoder::positions_needed), and how many
/// of the jobs would fail.
struct PromptSizes {
  std::optional<std::int64_t> least;  ///< smallest number of positions; none: no prompt is valid
  std::int64_t most = 0;              ///< largest number of positions; 0: no prompt is valid
  std::int64_t too_long = 0;          ///< number of jobs that exceed the network's positions
  /// number of jobs without a valid prompt; `why` is the reason for the first of them
  std::int64_t refused = 0;
  std::string why;
};

/// Tokenizes all prompts of an arm on one dataset. `arm`: its index in RunSpec::arms. `face`,
/// `chat`: the config, tokenizer and chat template of the arm's network. `one_more` is called
/// before each job, e.g. to show the progress. Errors of prompts are counted in
/// PromptSizes::refused, not thrown. REQUIRES: `face` has a tokenizer.
PromptSizes prompt_sizes(const RunSpec& spec, const Workload& work, size_t arm,
                         const CheckpointFace& face, const ChatTemplate& chat,
                         const std::function<void()>& one_more);

}  // namespace pardec
