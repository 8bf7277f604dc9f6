// `pardec data prompts`: generates open prompts, for answering and training.
#include <iostream>
#include <map>

#include "datasets/made_prompts.hpp"
#include "src/cli/data.hpp"
#include "src/cli/table_output.hpp"
#include "src/report/table.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

int make_prompt_data(const DataFlags& flags) {
  constexpr std::int64_t kUsual = 5000;
  const TableFormat format = parse_table_format(flags.format);
  if (!flags.datasets.empty())
    throw ConfigError(str("data prompts: it makes only dataset jsonl, found the name '",
                          flags.datasets.front(), "'"));
  if (flags.data_root.empty())
    throw ConfigError("data prompts: no --data-root DIR, expected the folder that gets jsonl/");
  check_at_least("examples", flags.examples, 0);
  const std::filesystem::path folder =
      std::filesystem::path(flags.data_root) / find_dataset("jsonl").folders.front();
  const std::string split = flags.split.empty() ? "train" : flags.split;
  const std::filesystem::path file = folder / (split + ".jsonl");
  std::error_code error;
  if (std::filesystem::exists(file, error))
    throw ConfigError(str(file.string(), ": is there; give another --split or --data-root"));
  const auto prompts = make_prompts(read_json(project_file("datasets/made_prompts.json")),
                                    flags.examples > 0 ? flags.examples : kUsual, flags.seed);
  std::filesystem::create_directories(folder, error);
  if (error) throw RunError(str(folder.string(), ": cannot be made: ", error.message()));
  std::string lines;
  std::map<std::string, std::int64_t> counts;
  for (const auto& [category, prompt] : prompts) {
    lines += dump(OrderedJson{{"category", category}, {"prompt", prompt}}) + "\n";
    ++counts[category];
  }
  write_file(file, lines);
  Table table;
  table.title = "Made prompts";
  table.columns = {{"category"}, {"prompts", Align::right}};
  for (const auto& [category, count] : counts) table.rows.push_back({category, number_cell(count)});
  table.notes = {str(file.string(), ": ", prompts.size(), " prompts, seed ", flags.seed,
                     ". 'pardec run --dataset jsonl --split ", split,
                     "' answers them, 'pardec train --from-run' learns the answers.")};
  print_table(table, format);
  return 0;
}

}  // namespace pardec
