#pragma once
// What the actions of `pardec data` share; each is in a file of its own.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/finetune/own_answers.hpp"
#include "src/report/table.hpp"
#include "src/support/json.hpp"
#include "src/tasks/protocol.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace CLI {
class App;
}

namespace pardec {

struct DataFlags {
  std::string action, data_root, split, tokenizer, format = "text";
  std::vector<std::string> datasets;
  // list
  bool addresses = false;
  // stats
  bool attention = false;
  int contexts = 1;
  bool published = false;
  // standin
  std::uint64_t seed = 1;
  std::int64_t examples = 0;
  // fetch
  std::string mirror, part, progress = "auto";
  int retries = 4, timeout_seconds = 30;
  bool force = false;
  // rewrite, label
  std::string service, out, details;
  OwnAnswers answers;
  std::int64_t limit = 0, max_tokens = 8192, token_budget = 0;
  double budget = 0;
  bool dry_run = false;
};

/// Each runs one action; exit code.
int list_data(const DataFlags& flags);
int check_data(const DataFlags& flags);
int data_stats(const DataFlags& flags);
int attention_stats(const DataFlags& flags);
int standin_data(const DataFlags& flags);
int make_prompt_data(const DataFlags& flags);
int fetch_data(const DataFlags& flags);
int rewrite_data(const DataFlags& flags);
int label_data(const DataFlags& flags);

/// Declares the flags of `rewrite` and `label` alone.
void add_teacher_flags(CLI::App& app, DataFlags& flags);

/// Writes the stand-ins that flags name, and says which they are.
Table make_standins(const DataFlags& flags);

/// The datasets that flags name; without a name all that the data root has.
std::vector<const DatasetEntry*> chosen_datasets(const DataFlags& flags);

/// ConfigError where the flags of `data ACTION` name no dataset, of these, or no folder to put it
/// into.
void check_targets(const DataFlags& flags, std::string_view action,
                   const std::vector<std::string>& names);

/// The splits of a dataset whose files are there; the first error where none are.
std::vector<Dataset> load_splits(const DatasetEntry& entry, const DataFlags& flags,
                                 std::vector<Inspection>* inspections = nullptr);

/// How `data stats` counts a dataset's prompts; notes say where they are not the protocol's.
Protocol protocol_of(const DatasetEntry& entry, const Dataset& dataset, const DataFlags& flags,
                     std::vector<std::string>& notes);

/// The published numbers of a table of datasets (experiments/papers), by dataset and quantity.
std::map<std::string, Json> published_rows(const std::string& table);

/// The tokenizer that flags name, else the quickstart model's.
Tokenizer tokenizer_of(const DataFlags& flags);

}  // namespace pardec
