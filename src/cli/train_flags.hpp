#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/model/config.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "src/training/training_loop.hpp"

namespace pardec {

/// What `train` was asked for.
struct TrainFlags {
  std::string model, tokenizer, data_root, split = "train", chat_template = "auto", prompt_file,
                                           dtype = "fp32", out, progress = "auto", fork_token,
                                           child_token, mask_token;
  std::vector<std::string> dataset, extra, format{"ar", "hpd"};
  std::string aspd_positions = "same-seq", aspd_mask = "independent", aspd_tokens;
  int stack = 6, ar_stack = 1, k_max = 30, share_prefix = 4, threads = 0;
  std::uint64_t seed = 1;
  std::int64_t limit = 0;
  double validation = 0.1, recombine = 0;
  int masks = 5;
  double ar_share = 0.5;
  bool one_pass = false;
  LoopOptions loop;
  TrainerOptions trainer;
  bool resume = false;
};

/// ConfigError where a flag is missing or has a value that it cannot have.
void check(const TrainFlags& flags);

/// The formats of --format, by the flags that each reads. `tokenizer` outlives them. ConfigError.
std::vector<std::unique_ptr<TrainingFormat>> make_formats(const TrainFlags& flags,
                                                          const Tokenizer& tokenizer,
                                                          const ModelConfig& config);

}  // namespace pardec
