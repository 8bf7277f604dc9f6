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

/// The flags of all actions; src/cli/flags.md explains them. Each comment inside the struct names
/// the actions that use the flags after the comment. `rewrite` and `label` also use `progress`.
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

/// Each function runs one action, prints the result, and returns the exit code. The exit code is 0,
/// with these exceptions:
/// - check_data returns 2 if a run would reject a record.
/// - fetch_data returns 1 if a file could not be fetched.
/// - rewrite_data and label_data return the codes of Teacher::stopped and Teacher::end
///   (data_teacher.hpp).
/// ConfigError: a flag that the action needs is missing or invalid.
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

/// The datasets in flags.datasets. If this list is empty: all datasets that have a folder in
/// flags.data_root, or, without a data root, all datasets. ConfigError: a name is unknown; or no
/// dataset is named, and no dataset has a folder in the data root.
std::vector<const DatasetEntry*> chosen_datasets(const DataFlags& flags);

/// Calls `seen` for each split of the datasets in flags.datasets (chosen_datasets). The Dataset in
/// the call has the examples of this split. An entry of flags.datasets may also have the form
/// NAME=FILE, which means a file of the user (parse_own_file). For such a file, `seen` is called
/// once, after the calls for the other datasets. If flags.datasets has only such entries, there are
/// no other datasets. Errors: see chosen_datasets, load_splits and load_own_file.
void each_split(const DataFlags& flags,
                const std::function<void(const DatasetEntry&, const Dataset&)>& seen);

/// Checks that the flags of an action that writes datasets name a dataset and a target folder
/// (flags.data_root). `action`: the action's name, for the message. `names`: the names of the
/// datasets that the action supports, also for the message. This function does not check that the
/// named datasets are among `names`. ConfigError: flags.datasets or flags.data_root is empty.
void check_targets(const DataFlags& flags, std::string_view action,
                   const std::vector<std::string>& names);

}  // namespace pardec
