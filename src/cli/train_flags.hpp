#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "decoders/training_formats.hpp"
#include "src/training/training_loop.hpp"

namespace CLI {
class App;
}

namespace pardec {

/// What `train` was asked for.
struct TrainFlags {
  std::string model, tokenizer, data_root, split = "train", chat_template = "auto", prompt_file,
                                           dtype = "fp32", out, progress = "auto";
  std::vector<std::string> dataset, extra, format = usual_formats(/*extra_heads=*/false);
  Json format_options = Json::object();  ///< of training_options(), those that were given
  int share_prefix = 4, threads = 0;
  std::uint64_t seed = 1;
  std::int64_t limit = 0;
  double validation = 0.1, recombine = 0;
  ExtraHeadShape extra_heads;  ///< none: the network itself learns
  LoopOptions loop;
  TrainerOptions trainer;
  bool resume = false;
};

/// ConfigError where a flag is missing or has a value that it cannot have.
void check(const TrainFlags& flags);

/// The flags of training_options(). `flags` outlives the parsing.
void add_format_options(CLI::App& app, TrainFlags& flags);

}  // namespace pardec
