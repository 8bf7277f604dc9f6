#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "decoders/training_formats.hpp"
#include "src/finetune/own_answers.hpp"
#include "src/support/progress.hpp"
#include "src/training/training_loop.hpp"

namespace pardec {

/// Everything that defines one training run.
struct TrainingSpec {
  std::string model, tokenizer, data_root, split = "train", chat_template = "auto", prompt_file,
                                           dtype = "fp32", out;
  std::vector<std::string> dataset, extra, format = usual_formats(/*extra_heads=*/false);
  OwnAnswers own_answers;                ///< none: training uses the datasets' references
  Json format_options = Json::object();  ///< options of training_options() that the user set
  int share_prefix = 4;
  std::uint64_t seed = 1;
  std::int64_t limit = 0;
  int context_length = 0;  ///< 0: the network's number of positions
  double validation = 0.1, recombine = 0;
  /// as in TrainingExamples; one value for all datasets or one for each
  std::vector<double> unannotated = {1};
  ExtraHeadShape extra_heads;               ///< none: trains the network itself or an adapter
  AdapterShape adapter;                     ///< its tokens are determined by `adapter_tokens`
  std::vector<std::string> adapter_tokens;  ///< ids, or texts of the tokenizer's tokens
  /// folder of a low-rank adapter to continue training from, with its shape
  std::string start_adapter;
  LoopOptions loop;
  TrainerOptions trainer;
  ProgressStyle progress = ProgressStyle::automatic;
  bool resume = false;
  std::string command;  ///< recorded only

  /// The share for the dataset at this index.
  double unannotated_in(size_t at) const { return unannotated[unannotated.size() > 1 ? at : 0]; }
  bool adapts() const { return adapter.there() || !start_adapter.empty(); }
};

/// Formats as given to `--format`: NAME or NAME:SHARE.
struct FormatShares {
  std::vector<std::string> names;
  std::vector<double> shares;  ///< how many times an epoch includes every example in each format
  bool given = false;          ///< whether one of them is not 1
};
/// ConfigError: a share is not a positive number.
FormatShares format_shares(const std::vector<std::string>& given);

/// ConfigError: a setting is missing, or settings are incompatible. src/settings checks the range
/// of each number.
void check(const TrainingSpec& spec);

}  // namespace pardec
