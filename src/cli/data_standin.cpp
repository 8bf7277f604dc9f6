// `pardec data standin`: generated files of the published lengths, where the published ones are not
// at hand.
#include <iostream>

#include "datasets/standin.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/data.hpp"
#include "src/cli/table_output.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/prompt/pieces.hpp"
#include "src/prompt/prompt_choice.hpp"
#include "src/report/table.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

namespace fs = std::filesystem;

/// Ids of a product's text: the HPD paper does not say how many, so this is a choice of ours.
constexpr double kProductText = 250;

/// Makes the worked examples so long that the instruction with them has the published length.
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
      answer > 1 ? answer - 1 : 1};  // longer ones are published with their end of sequence
  set_shots(lengths, find_dataset(dataset), row.at("instruction").get<double>(), tokenizer);
  return lengths;
}

}  // namespace

Table make_standins(const DataFlags& flags) {
  const auto& can = standin_datasets();
  const std::vector<std::string> names(can.begin(), can.end());
  check_targets(flags, "standin", names);
  check_at_least("--examples", flags.examples, 0);
  for (const auto& name : flags.datasets) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw ConfigError(str("data standin: '", name, "' has no published lengths to be made to",
                            known_names(name, names)));
    if (const auto folder = dataset_folder(find_dataset(name), flags.data_root))
      throw ConfigError(
          str("data standin: ", folder->string(), " is there; expected a --data-root without it"));
  }
  const Tokenizer tokenizer = tokenizer_of(flags);
  const std::string shown = flags.tokenizer.empty() ? "the quickstart tokenizer" : flags.tokenizer;
  Table table;
  table.title = "Stand-ins";
  table.columns = {{"dataset"}, {"examples", Align::right}, {"folder"}};
  for (const auto& name : flags.datasets) {
    StandinLengths lengths = published_lengths(name, tokenizer);
    if (flags.examples > 0) lengths.examples = flags.examples;
    const fs::path folder = fs::path(flags.data_root) / find_dataset(name).folders.front();
    const fs::path made = folder.string() + ".part";
    std::error_code error;
    fs::remove_all(made, error);
    fs::create_directories(made, error);
    if (error) throw RunError(str(made.string(), ": cannot be made: ", error.message()));
    try {
      write_standin(
          name, made, lengths, flags.seed,
          [&](std::string_view text) {
            return static_cast<std::int64_t>(tokenizer.encode_piece(text, false).size());
          },
          shown);
      fs::rename(made, folder);
    } catch (...) {
      fs::remove_all(made, error);
      throw;
    }
    table.rows.push_back({name + " (stand-in)", number_cell(lengths.examples), folder.string()});
  }
  table.notes = {
      str("Generated words, mean lengths as published (IPPD Table 1, HPD Table 2) in ids of ",
          shown, ", seed ", flags.seed, "; 'pardec data stats' shows both."),
      "Speed alone can be measured on them; every table that uses them says stand-in."};
  for (const auto& name : flags.datasets)
    if (name == "amazon-reviews")
      table.notes.push_back(str("amazon-reviews: the length of a product's text is not published; ",
                                kProductText, " ids are a choice of ours."));
  return table;
}

int standin_data(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  print_table(make_standins(flags), format);
  return 0;
}

}  // namespace pardec
