#pragma once
// Shared by the actions of `pardec data`. Each action has its own source file.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/cli/common_flags.hpp"
#include "src/findings/corpus.hpp"
#include "src/finetune/own_answers.hpp"

namespace CLI {
class App;
}

namespace pardec {

/// The flags of all actions; src/cli/flags.md explains them. The comments name the actions that use
/// the flags below them. `rewrite` and `label` also use `progress`.
struct DataFlags : CorpusFiles {
  std::string action, format = "text";
  std::vector<std::string> datasets;
  // list
  bool addresses = false;
  // stats
  bool attention = false, structure = false;
  int contexts = 1;
  bool published = false;
  // standin, prompts
  std::uint64_t seed = 1;
  std::int64_t examples = 0;
  // fetch
  std::string mirror, part, progress = "auto";
  DownloadOptions download;
  bool force = false;
  // rewrite, label
  std::string service, out, details;
  OwnAnswers answers;
  std::int64_t limit = 0, max_tokens = 8192, token_budget = 0;
  double budget = 0;
  bool dry_run = false;
};

/// Each function runs one action, prints the result, and returns the exit code. ConfigError: a flag
/// that the action needs is missing or invalid. The exit code is 0, with these exceptions.
/// check_data returns 2 if a run would reject a record. fetch_data returns 1 if a file could not be
/// fetched. rewrite_data and label_data return the codes of Teacher::stopped and Teacher::end
/// (data_teacher.hpp).
int list_data(const DataFlags& flags);
int check_data(const DataFlags& flags);
// `stats`, `stats --attention` and `stats --structure`:
int data_stats(const DataFlags& flags);
int attention_stats(const DataFlags& flags);
int structure_stats(const DataFlags& flags);
int standin_data(const DataFlags& flags);
int make_prompt_data(const DataFlags& flags);
int fetch_data(const DataFlags& flags);
int rewrite_data(const DataFlags& flags);
int label_data(const DataFlags& flags);

/// Declares the flags that only `rewrite` and `label` have.
void add_teacher_flags(CLI::App& app, DataFlags& flags);

/// The datasets that the flags name. If they name none: all datasets with a folder in the data
/// root, or, without a data root, all datasets. ConfigError: a name is unknown, or the data root
/// has no folder of a dataset.
std::vector<const DatasetEntry*> chosen_datasets(const DataFlags& flags);

/// Calls `seen` for each split of the chosen datasets (chosen_datasets). The Dataset in the call
/// has the examples of this split. A name NAME=FILE in flags.datasets is a file of the user
/// (parse_own_file); these files come last. Errors: see chosen_datasets, load_splits and
/// load_own_file.
void each_split(const DataFlags& flags,
                const std::function<void(const DatasetEntry&, const Dataset&)>& seen);

/// Checks the flags of `data ACTION`, an action that writes datasets. ConfigError: the flags name
/// no dataset or no target folder. `names`: the datasets that the action supports, for the message.
/// The caller checks that the named datasets are among them.
void check_targets(const DataFlags& flags, std::string_view action,
                   const std::vector<std::string>& names);

}  // namespace pardec
