#include "src/reproduction/standins.hpp"

#include <algorithm>

#include "datasets/standin.hpp"
#include "src/findings/corpus.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/prompt/pieces.hpp"
#include "src/prompt/prompt_choice.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

namespace fs = std::filesystem;

/// Sets the length of the worked examples so that the instruction including them has the published
/// length.
void set_shots(StandinLengths& lengths, const DatasetEntry& entry, double instruction,
               const Tokenizer& tokenizer) {
  lengths.shots = entry.shots;
  if (entry.shots == 0) return;
  const PromptFile prompt = load_prompt(std::string(entry.prompt));
  Job job;
  job.contexts.push_back({"", "", "", {{"", "", {}}}});
  job.instruction = instruction_for(prompt, job.contexts, Form::value);
  job.shots.resize(static_cast<std::size_t>(entry.shots));
  const auto empty =
      make_pieces(job, Form::value, prompt, find_chat_template("plain"), tokenizer).prefix.size();
  lengths.shot_context =
      (instruction - static_cast<double>(empty)) / entry.shots - lengths.question - lengths.answer;
}

StandinLengths published_lengths(const std::string& dataset, const Tokenizer& tokenizer) {
  if (dataset == "amazon-reviews") {
    const Json row = published_rows("hpd/table2.json").at(dataset);
    return {row.at("test").get<std::int64_t>(), row.at("attributes_per_category").get<double>(),
            kProductText, 0, 0};
  }
  const Json row = published_rows("ippd/table1.json").at(dataset);
  const double answer = row.at("answer").get<double>();
  StandinLengths lengths{
      row.at("contexts").get<std::int64_t>(), row.at("parallelism").get<double>(),
      row.at("context").get<double>(), row.at("question").get<double>(),
      answer > 1 ? answer - 1 : 1};  // longer answers are published including their end of sequence
  set_shots(lengths, find_dataset(dataset), row.at("instruction").get<double>(), tokenizer);
  return lengths;
}

}  // namespace

std::vector<MadeStandin> make_standins(const StandinSpec& spec) {
  const auto& can = standin_datasets();
  const std::vector<std::string> names(can.begin(), can.end());
  for (const auto& name : spec.datasets) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw ConfigError(str("data standin: '", name, "' has no published lengths for a stand-in",
                            known_names(name, names)));
    if (const auto folder = dataset_folder(find_dataset(name), spec.data_root))
      throw ConfigError(str("data standin: ", folder->string(),
                            " exists; expected a `data_root` without this folder"));
  }
  const Tokenizer tokenizer = tokenizer_of({.tokenizer = spec.tokenizer});
  std::vector<MadeStandin> all;
  for (const auto& name : spec.datasets) {
    StandinLengths lengths = published_lengths(name, tokenizer);
    if (spec.examples > 0) lengths.examples = spec.examples;
    const fs::path folder = fs::path(spec.data_root) / find_dataset(name).folders.front();
    const fs::path made = folder.string() + ".part";
    std::error_code error;
    fs::remove_all(made, error);
    fs::create_directories(made, error);
    if (error) throw RunError(str(made.string(), ": cannot be made: ", error.message()));
    try {
      write_standin(
          name, made, lengths, spec.seed,
          [&](std::string_view text) {
            return static_cast<std::int64_t>(tokenizer.encode_piece(text, false).size());
          },
          spec.shown_tokenizer());
      fs::rename(made, folder);
    } catch (...) {
      fs::remove_all(made, error);
      throw;
    }
    all.push_back({name, lengths.examples, folder});
  }
  return all;
}

}  // namespace pardec
