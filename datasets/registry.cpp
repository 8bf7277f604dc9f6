#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "datasets/amazon_reviews.hpp"
#include "datasets/attribute_extraction.hpp"
#include "datasets/dataset.hpp"
#include "datasets/longhealth.hpp"
#include "datasets/multiple_choice.hpp"
#include "datasets/narrativeqa.hpp"
#include "datasets/open_prompts.hpp"
#include "datasets/own_jsonl.hpp"
#include "datasets/race.hpp"
#include "datasets/reading.hpp"
#include "datasets/reasoning_prompts.hpp"
#include "datasets/sharegpt.hpp"
#include "datasets/sources.hpp"
#include "datasets/squad.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

Dataset load_oa_mine(const std::filesystem::path& folder, std::string_view split,
                     Inspection* inspection) {
  return load_attribute_extraction("oa-mine", folder, split, inspection);
}

Dataset load_ae_110k(const std::filesystem::path& folder, std::string_view split,
                     Inspection* inspection) {
  return load_attribute_extraction("ae-110k", folder, split, inspection);
}

template <typename T>
void shuffle(std::vector<T>& items,
             Rng& rng) {  // Fisher-Yates; std::shuffle differs between libraries
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
}

/// All indices of `examples` in the order in which a sample takes them (see `select`).
std::vector<size_t> sampling_order(const std::vector<Example>& examples, std::uint64_t seed,
                                   size_t together) {
  std::map<std::string_view, std::vector<size_t>> members;
  for (size_t i = 0; i < examples.size(); ++i) members[examples[i].category].push_back(i);

  std::vector<std::string_view> categories;
  for (auto& [category, indices] : members) {
    categories.push_back(category);
    Rng rng(derive_seed(seed, str("select category ", category)));
    shuffle(indices, rng);
  }
  Rng rng(derive_seed(seed, "select categories"));
  shuffle(categories, rng);

  std::vector<size_t> order;
  for (size_t begin = 0; order.size() < examples.size(); begin += together)
    for (const auto category : categories) {
      const auto& all = members[category];
      for (size_t i = begin; i < std::min(begin + together, all.size()); ++i)
        order.push_back(all[i]);
    }
  return order;
}

/// Checks for a dataset without examples, and for repeated ids of examples and, if the publisher
/// has them, of questions.
void check_ids(Dataset& dataset, Inspection* inspection) {
  const std::string file = dataset.files.empty() ? dataset.name : dataset.files.front().string();
  std::set<std::string> ids, questions;
  // If a record was left out, its fault is sufficient.
  if (dataset.examples.empty() && (!inspection || inspection->faults.empty()))
    complain(inspection, DataError(file, 0, str("has no example of split ", dataset.split)));
  std::erase_if(dataset.examples, [&](const Example& example) {
    if (ids.insert(example.id).second) return false;
    complain(inspection, DataError(file, 0, str("id '", example.id, "' occurs twice")));
    return true;
  });
  // in other datasets, a question's id is its place in the example
  if (dataset.name != "squad") return;
  for (const Example& example : dataset.examples)
    for (const auto& field : example.fields)
      if (!questions.insert(field.id).second)
        complain(inspection, DataError(file, 0, str("question id '", field.id, "' occurs twice")));
}

}  // namespace

const std::vector<DatasetEntry>& datasets() {
  static const std::vector<DatasetEntry> kDatasets = {
      {.name = "oa-mine",
       .folders = {"oa-mine"},
       .prompt = "attributes",
       .unit = "products",
       .metrics = {"f1_micro", "f1_macro", "f1_strict", "f1_strict_macro"},
       .splits = {"test", "train"},
       .load = load_oa_mine},
      {.name = "ae-110k",
       .folders = {"ae-110k"},
       .prompt = "attributes",
       .unit = "products",
       .metrics = {"f1_micro", "f1_macro", "f1_strict", "f1_strict_macro"},
       .splits = {"test", "train"},
       .load = load_ae_110k},
      {.name = "squad",
       .folders = {"squad"},
       .prompt = "questions",
       .unit = "contexts",
       .metrics = {"token_f1", "squad_exact"},
       .splits = {"dev", "train"},
       .answer_ids = 30,
       .load = load_squad},
      {.name = "race",
       .folders = {"race", "RACE"},
       .prompt = "choices",
       .unit = "contexts",
       .metrics = {"accuracy"},
       .splits = {"test", "dev", "train"},
       .answer_ids = 1,
       .load = load_race},
      {.name = "narrativeqa",
       .folders = {"narrativeqa"},
       .prompt = "summaries",
       .unit = "contexts",
       .metrics = {"rouge_l"},
       .splits = {"test", "valid", "train"},
       .answer_ids = 40,
       .shots = 5,
       .load = load_narrativeqa},
      {.name = "longhealth",
       .folders = {"longhealth", "LongHealth"},
       .prompt = "choices",
       .unit = "contexts",
       .metrics = {"accuracy"},
       .splits = {"test"},
       .answer_ids = 1,
       .load = load_longhealth},
      {.name = "amazon-reviews",
       .folders = {"amazon-reviews"},
       .prompt = "products",
       .unit = "products",
       .metrics = {"judge_f1"},
       .splits = {"test"},
       .load = load_amazon_reviews},
      {.name = "mt-bench",
       .folders = {"mt-bench", "mt_bench"},
       .prompt = "open",
       .unit = "prompts",
       .metrics = {"judge_score", "degenerate"},
       .splits = {"test"},
       .load = load_mt_bench},
      {.name = "vicuna-bench",
       .folders = {"vicuna-bench", "vicuna_bench"},
       .prompt = "open",
       .unit = "prompts",
       .metrics = {"judge_score", "degenerate"},
       .splits = {"test"},
       .load = load_vicuna_bench},
      {.name = "humaneval-x",
       .folders = {"humaneval-x"},
       .prompt = "code",
       .unit = "prompts",
       .metrics = {"pass_at_1", "pass_at_10"},
       .splits = {"test"},
       .load = load_humaneval_x},
      {.name = "xsum",
       .folders = {"xsum"},
       .prompt = "summarise",
       .unit = "prompts",
       .metrics = {"rouge_l"},
       .splits = {"test", "validation", "train"},
       .load = load_xsum},
      {.name = "cip",
       .folders = {"cip"},
       .prompt = "open",
       .unit = "prompts",
       .metrics = {"rouge_l"},
       .splits = {"test", "train"},
       .load = load_cip},
      {.name = "math500",
       .folders = {"math500"},
       .prompt = "maths",
       .unit = "prompts",
       .metrics = {"maths"},
       .splits = {"test", "level-1", "level-2", "level-3", "level-4", "level-5"},
       .load = load_math500},
      {.name = "aime",
       .folders = {"aime"},
       .prompt = "maths",
       .unit = "prompts",
       .metrics = {"maths"},
       .splits = {"2024", "2025"},
       .load = load_aime},
      {.name = "amc23",
       .folders = {"amc23"},
       .prompt = "maths",
       .unit = "prompts",
       .metrics = {"maths"},
       .splits = {"test"},
       .load = load_amc23},
      {.name = "gpqa",
       .folders = {"gpqa"},
       .prompt = "science",
       .unit = "prompts",
       .metrics = {"maths"},
       .splits = {"diamond", "main", "extended"},
       .load = load_gpqa},
      {.name = "mmlu",
       .folders = {"mmlu"},
       .prompt = "letters",
       .unit = "questions",
       .metrics = {"accuracy"},
       .splits = {"test", "validation", "dev"},
       .load = load_mmlu},
      {.name = "agieval",
       .folders = {"agieval"},
       .prompt = "letters",
       .unit = "questions",
       .metrics = {"accuracy"},
       .splits = {"test"},
       .load = load_agieval},
      {.name = "commonsense-qa",
       .folders = {"commonsense-qa"},
       .prompt = "letters",
       .unit = "questions",
       .metrics = {"accuracy"},
       .splits = {"validation", "train"},
       .load = load_commonsense_qa},
      {.name = "boolq",
       .folders = {"boolq"},
       .prompt = "completion",
       .unit = "questions",
       .metrics = {"accuracy"},
       .splits = {"validation", "train"},
       .load = load_boolq},
      {.name = "piqa",
       .folders = {"piqa"},
       .prompt = "completion",
       .unit = "questions",
       .metrics = {"accuracy"},
       .splits = {"validation", "train"},
       .load = load_piqa},
      {.name = "rte",
       .folders = {"rte"},
       .prompt = "entailment",
       .unit = "questions",
       .metrics = {"accuracy"},
       .splits = {"validation", "train"},
       .load = load_rte},
      {.name = "hellaswag",
       .folders = {"hellaswag"},
       .prompt = "continuation",
       .unit = "questions",
       .metrics = {"accuracy"},
       .splits = {"validation", "train"},
       .load = load_hellaswag},
      {.name = "sharegpt",
       .folders = {"sharegpt"},
       .prompt = "open",
       .unit = "prompts",
       .metrics = {"rouge_l", "degenerate"},
       .splits = {"test"},
       .load = load_sharegpt},
      {.name = "rag-bench",
       .folders = {"rag-bench"},
       .prompt = "context",
       .unit = "prompts",
       .metrics = {"judge_score", "degenerate"},
       .splits = {"test", "all", "train"},
       .load = load_rag_bench},
      {.name = "jsonl",
       .folders = {"jsonl"},
       .prompt = "questions",
       .unit = "examples",
       .metrics = {"exact_match", "token_f1"},
       .splits = {"test"},
       .load = load_own_jsonl},
  };
  return kDatasets;
}

const DatasetEntry& find_dataset(std::string_view name) {
  std::vector<std::string> names;
  for (const DatasetEntry& entry : datasets()) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  throw ConfigError(str("unknown dataset '", name, "'", known_names(name, names)));
}

const DatasetEntry& stored_dataset(std::string_view name) {
  for (const DatasetEntry& entry : datasets())
    if (entry.name == name) return entry;
  return find_dataset("jsonl");
}

std::optional<std::filesystem::path> dataset_folder(const DatasetEntry& entry,
                                                    const std::filesystem::path& root) {
  for (const auto name : entry.folders)
    if (std::error_code ignored; std::filesystem::is_directory(root / name, ignored))
      return root / name;
  return std::nullopt;
}

Dataset load_dataset(const DatasetEntry& entry,
                     const std::optional<std::filesystem::path>& data_root, std::string_view split,
                     const std::filesystem::path& samples, Inspection* inspection) {
  const std::filesystem::path root = data_root.value_or(samples);
  const auto folder = dataset_folder(entry, root);
  if (!folder) {
    std::vector<std::string> wanted;
    for (const auto name : entry.folders) wanted.push_back((root / name).string());
    throw ConfigError(str("dataset '", entry.name, "': no folder ", join(wanted, " or "),
                          !data_root ? ""
                          : find_source(entry.name)
                              ? str("; check the data root, 'pardec data fetch ", entry.name,
                                    "' gets it, and without a data root the built-in "
                                    "sample is used")
                              : "; check the data root"));
  }
  Dataset dataset = entry.load(*folder, split.empty() ? entry.splits.front() : split, inspection);
  dataset.sample = !data_root;
  std::error_code ignored;
  dataset.standin = std::filesystem::exists(*folder / kStandinNote, ignored);
  check_ids(dataset, inspection);
  return dataset;
}

Dataset load_own_file(const OwnFile& own, Inspection* inspection) {
  Dataset dataset = read_own_file(own, inspection);
  check_ids(dataset, inspection);
  return dataset;
}

std::int64_t leave_out_seen(std::vector<Example>& examples, const std::vector<Example>& seen) {
  std::set<std::string_view> clusters;
  for (const Example& example : seen) clusters.insert(example.cluster);
  return static_cast<std::int64_t>(std::erase_if(
      examples, [&](const Example& example) { return clusters.contains(example.cluster); }));
}

std::vector<Example> select(const std::vector<Example>& examples, std::int64_t limit,
                            std::int64_t offset, std::uint64_t seed, int together) {
  if (limit < 0) throw ConfigError(str("limit is ", limit, ", expected 0 (all) or more"));
  if (offset < 0) throw ConfigError(str("offset is ", offset, ", expected 0 or more"));
  const std::vector<size_t> order =
      sampling_order(examples, seed, static_cast<size_t>(std::max(together, 1)));
  const size_t begin = std::min(static_cast<size_t>(offset), order.size());
  const size_t left = order.size() - begin;
  const size_t count = limit == 0 ? left : std::min(static_cast<size_t>(limit), left);

  std::vector<size_t> chosen(order.begin() + static_cast<std::ptrdiff_t>(begin),
                             order.begin() + static_cast<std::ptrdiff_t>(begin + count));
  std::sort(chosen.begin(), chosen.end());
  std::vector<Example> sample;
  for (const size_t index : chosen) sample.push_back(examples[index]);
  return sample;
}

}  // namespace pardec
