#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "decoders/training_formats.hpp"
#include "src/finetune/own_answers.hpp"
#include "src/support/progress.hpp"
#include "src/training/training_loop.hpp"

namespace pardec {

/// The complete specification of one training run.
struct TrainingSpec {
  /// `model`: a config.json for a new network, or a checkpoint folder. `tokenizer`: a
  /// tokenizer.json or its folder; empty: the model's tokenizer, or, for a new network, the
  /// quickstart's tokenizer. `data_root`: folder of the datasets; empty: the project's samples.
  /// `split`: the split of every dataset that is used for training. `chat_template`: a name for
  /// template_for; `auto` means `plain` for a new network. `prompt_file`: replaces the datasets'
  /// wordings; empty: no replacement. `dtype`: the name of trainer.dtype, for the record. `out`:
  /// folder for the results.
  std::string model, tokenizer, data_root, split = "train", chat_template = "auto", prompt_file,
                                           dtype = "fp32", out;
  /// `dataset`: names of datasets. `extra`: files with more product titles. `format`: NAME or
  /// NAME:SHARE (see format_shares).
  std::vector<std::string> dataset, extra, format = usual_formats(/*extra_heads=*/false);
  OwnAnswers own_answers;                ///< if !there(), training uses the datasets' references
  Json format_options = Json::object();  ///< options from training_options() that the user set
  int share_prefix = 4;                  ///< maximum number of sequences that share_prefixes joins
  std::uint64_t seed = 1;
  std::int64_t limit = 0;   ///< maximum number of examples of each dataset; 0: no limit
  int context_length = 0;   ///< 0: the network's number of positions
  double validation = 0.1;  ///< share of the examples that are held out for validation
  double recombine = 0;     ///< see ExampleSource::Parts::recombine
  /// see TrainingExamples::unannotated; one value for all datasets, or one per dataset
  std::vector<double> unannotated = {1};
  ExtraHeadShape extra_heads;  ///< with 0 heads, the network itself or an adapter is trained
  AdapterShape adapter;        ///< `adapter_tokens` determines its tokens
  std::vector<std::string> adapter_tokens;  ///< token ids, or texts of tokens
  /// folder of a low-rank adapter; training continues with its weights and shape
  std::string start_adapter;
  LoopOptions loop;
  TrainerOptions trainer;
  ProgressStyle progress = ProgressStyle::automatic;
  bool resume = false;  ///< continue the run in `out`
  std::string command;  ///< recorded only

  /// The value of `unannotated` for the dataset at this index.
  double unannotated_in(size_t at) const { return unannotated[unannotated.size() > 1 ? at : 0]; }
  /// Whether a low-rank adapter is trained.
  bool adapts() const { return adapter.there() || !start_adapter.empty(); }
};

/// The parsed values of `--format`: NAME or NAME:SHARE.
struct FormatShares {
  std::vector<std::string> names;  ///< one per format
  std::vector<double> shares;  ///< one per format: how many times an epoch includes every example
  bool given = false;          ///< whether some share is not 1
};
/// Parses the values of `--format`. The names are not checked. ConfigError: a share is not a
/// positive number.
FormatShares format_shares(const std::vector<std::string>& given);

/// Checks the settings. ConfigError: a setting is missing, or settings are incompatible. The range
/// of each number is checked in src/settings, not here.
void check(const TrainingSpec& spec);

}  // namespace pardec
