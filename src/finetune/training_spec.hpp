#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "decoders/training_formats.hpp"
#include "src/finetune/own_answers.hpp"
#include "src/support/progress.hpp"
#include "src/training/process_group.hpp"
#include "src/training/training_loop.hpp"

namespace pardec {

/// What one training run is to do.
struct TrainingSpec {
  std::string model, tokenizer, data_root, split = "train", chat_template = "auto", prompt_file,
                                           dtype = "fp32", out;
  std::vector<std::string> dataset, extra, format = usual_formats(/*extra_heads=*/false);
  OwnAnswers own_answers;                ///< none: the datasets' references are learned
  Json format_options = Json::object();  ///< of training_options(), those that were given
  int share_prefix = 4;
  std::uint64_t seed = 1;
  std::int64_t limit = 0;
  int context_length = 0;  ///< 0: as many positions as the network has
  double validation = 0.1, recombine = 0;
  std::vector<double> unannotated = {1};    ///< as in TrainingExamples, of all datasets or of each
  ExtraHeadShape extra_heads;               ///< none: the network itself learns, or an adapter
  AdapterShape adapter;                     ///< its tokens are found by `adapter_tokens`
  std::vector<std::string> adapter_tokens;  ///< ids, or texts of the tokenizer's
  std::string start_adapter;  ///< folder of a low-rank adapter to go on from, whose shape it has
  LoopOptions loop;
  TrainerOptions trainer;
  ProcessGroupOptions processes;
  ProgressStyle progress = ProgressStyle::automatic;
  bool resume = false;
  std::string command;  ///< for the record

  /// Of the dataset at this index.
  double unannotated_in(size_t at) const { return unannotated[unannotated.size() > 1 ? at : 0]; }
  bool adapts() const { return adapter.there() || !start_adapter.empty(); }
};

/// Formats as `--format` names them: NAME or NAME:SHARE.
struct FormatShares {
  std::vector<std::string> names;
  std::vector<double> shares;  ///< how often an epoch brings every example in each
  bool given = false;          ///< one of them is not 1
};
/// ConfigError: a share that is no number above 0.
FormatShares format_shares(const std::vector<std::string>& given);

/// ConfigError where something is missing, and for settings that do not go together. The range of
/// each number stands in src/settings.
void check(const TrainingSpec& spec);

}  // namespace pardec
