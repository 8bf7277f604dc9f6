#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

#include "src/findings/corpus.hpp"
#include "src/reproduction/scale_inputs.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

namespace fs = std::filesystem;

/// Numbers by name, and whether some of the data are not the publisher's.
struct Counted {
  std::map<std::string, double> counts;
  bool sample = false, standin = false;
};

/// The counts in the papers' tables of datasets.
Counted counts_of(const DatasetEntry& entry, const CorpusFiles& files, const Tokenizer& tokenizer) {
  Counted all;
  auto& counts = all.counts;
  std::vector<std::string> notes;
  for (const Dataset& dataset : load_splits(entry, files)) {
    all.sample = all.sample || dataset.sample, all.standin = all.standin || dataset.standin;
    const SplitStats stats =
        stats_of(dataset, protocol_of(entry, dataset, files, notes), tokenizer);
    counts[dataset.split] = static_cast<double>(stats.examples);
    if (dataset.split != entry.splits.front()) continue;
    counts["contexts"] = static_cast<double>(stats.examples);
    counts["attributes_per_category"] = stats.attributes_per_category;
    counts["parallelism"] = stats.fields.value();
    counts["instruction"] = stats.instruction.value();
    counts["context"] = stats.text.value();
    counts["question"] = stats.question.value();
    counts["answer"] = stats.answer.value();
    if (dataset.shape != Shape::open) continue;
    const StructureStats structure = structure_of(dataset, tokenizer);
    if (structure.answers == 0) continue;
    counts["ppd"] = structure.metrics.ppd;
    counts["dp"] = structure.metrics.ppd > 0 ? structure.metrics.dp : std::nan("");
    counts["abn"] = structure.metrics.ppd > 0 ? structure.metrics.abn : std::nan("");
  }
  return all;
}

/// The paper's cost model of attention at the dataset's own mean lengths.
Counted attention_counts(const DatasetEntry& entry, const CorpusFiles& files,
                         const Tokenizer& tokenizer) {
  const Dataset dataset = load_splits(entry, files).front();
  std::vector<std::string> notes;
  const AttentionStats stats =
      attention_of(dataset, protocol_of(entry, dataset, files, notes), tokenizer, 1);
  const AttentionRatios ratios = attention_ratios(stats.m.value(), stats.p.value(), stats.c.value(),
                                                  stats.x.value(), stats.y.value());
  return {{{"prefill_flop_factor", ratios.prefill_flop_factor},
           {"prefill_access_ratio", ratios.prefill_access_ratio},
           // 1: by as many times as a context has questions
           {"prefill_access_share", ratios.prefill_access_ratio / stats.m.value()},
           {"pcpa_prefill_intensity", ratios.pcpa_prefill_intensity},
           {"ippd_prefill_intensity", ratios.ippd_prefill_intensity},
           {"pcpa_decode_intensity", ratios.pcpa_decode_intensity},
           {"ippd_decode_intensity", ratios.ippd_decode_intensity}},
          dataset.sample,
          dataset.standin};
}

/// Adds the numbers in `value`, of which `name` is the name: those of a list as NAME.1, NAME.2 ...,
/// those of an object as NAME.KEY.
void add_numbers(const std::string& name, const Json& value,
                 std::map<std::string, double>& numbers) {
  if (value.is_number()) numbers[name] = value.get<double>();
  for (size_t i = 0; value.is_array() && i < value.size(); ++i)
    add_numbers(str(name, ".", i + 1), value[i], numbers);
  if (value.is_object())
    for (const auto& [key, inner] : value.items()) add_numbers(str(name, ".", key), inner, numbers);
}

}  // namespace

std::map<std::string, double> settings_of_training(const Json& record) {
  constexpr std::array<std::string_view, 6> kUnsetAt0{
      "steps", "batch_sequences", "batch_tokens", "context_length", "patience", "limit"};
  std::map<std::string, double> numbers;
  for (const auto& [key, value] : record.at("settings").items())
    if (value != 0 || std::find(kUnsetAt0.begin(), kUnsetAt0.end(), key) == kUnsetAt0.end())
      add_numbers(key, value, numbers);
  const Json steps = record.value("result", Json::object()).value("steps", Json());
  if (steps.is_number()) numbers["steps"] = steps.get<double>();
  return numbers;
}

void reproduce_counts(Reproduction& result, const Json& scale, const ReproduceOptions& options) {
  CountedEvidence::Counts counts;
  Lacking lacking;
  bool sample = false, standin = false;
  if (scale.contains("training")) {
    const auto named = scale["training"].get<std::string>();
    const auto folder = folder_at(named);
    std::optional<fs::path> record;
    for (const char* file : {"training.json", "heads_training.json"})
      if (folder && fs::exists(*folder / file)) record = *folder / file;
    if (record)
      counts["training"] = settings_of_training(read_json(*record));
    else
      lacking.datasets["training"] = str(named, "/training.json");
    result.differs.push_back(
        record
            ? Difference{Difference::Of::training, str("differs: settings of ", record->string())}
            : Difference{std::nullopt, str("nothing was trained: ", named, " is not there")});
  } else {
    const CorpusFiles files{.data_root = options.data_root};
    const Tokenizer tokenizer = tokenizer_of(files);
    const bool attention = scale.value("attention", false);
    for (const Json& one : scale.at("datasets")) {
      const auto name = one.get<std::string>();
      const DatasetEntry& entry = find_dataset(name);
      if (!files.data_root.empty() && !dataset_folder(entry, files.data_root)) {
        lacking.datasets[name] = str("dataset ", name, " (no folder under `data_root`)");
        continue;
      }
      if (files.data_root.empty() && attention) {
        lacking.datasets[name] =
            str("dataset ", name, " (`data_root`; a sample has other lengths)");
        continue;
      }
      Counted counted = (attention ? attention_counts : counts_of)(entry, files, tokenizer);
      counts[name] = std::move(counted.counts);
      sample = sample || counted.sample, standin = standin || counted.standin;
    }
    result.differs.push_back({Difference::Of::ids, "differs: ids of the quickstart tokenizer"});
    if (sample)
      result.differs.push_back(
          {Difference::Of::data, "differs: the project's own samples (no `data_root`)"});
  }
  for (const Doubt& doubt : result.item->published.doubts)
    result.differs.push_back(
        {std::nullopt, str("doubt: ", doubt.at.is_null() ? "" : dump(doubt.at) + ": ", doubt.why)});
  result.evidence = std::make_unique<CountedEvidence>(
      std::move(counts), Qualifiers{.standin = sample || standin, .counted = true},
      std::move(lacking));
}

}  // namespace pardec
