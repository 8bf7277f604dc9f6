#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "decoders/training_formats.hpp"
#include "src/support/progress.hpp"
#include "src/training/training_loop.hpp"

namespace pardec {

/// What one training run is to do.
struct TrainingSpec {
  std::string model, tokenizer, data_root, split = "train", chat_template = "auto", prompt_file,
                                           dtype = "fp32", out;
  std::vector<std::string> dataset, extra, format = usual_formats(/*extra_heads=*/false);
  Json format_options = Json::object();  ///< of training_options(), those that were given
  int share_prefix = 4;
  std::uint64_t seed = 1;
  std::int64_t limit = 0;
  double validation = 0.1, recombine = 0;
  ExtraHeadShape extra_heads;               ///< none: the network itself learns, or an adapter
  AdapterShape adapter;                     ///< its tokens are found by `adapter_tokens`
  std::vector<std::string> adapter_tokens;  ///< ids, or texts of the tokenizer's
  LoopOptions loop;
  TrainerOptions trainer;
  ProgressStyle progress = ProgressStyle::automatic;
  bool resume = false;
  std::string command;  ///< for the record
};

/// ConfigError where something is missing or has a value that it cannot have.
void check(const TrainingSpec& spec);

}  // namespace pardec
