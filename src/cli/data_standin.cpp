// `pardec data standin`: generates files with the published lengths, for datasets whose published
// files are not available.
#include <iostream>

#include "datasets/standin.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/data.hpp"
#include "src/cli/table_output.hpp"
#include "src/report/table.hpp"
#include "src/reproduction/standins.hpp"
#include "src/support/checks.hpp"
#include "src/support/text.hpp"

namespace pardec {

int standin_data(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  const auto& can = standin_datasets();
  check_targets(flags, "standin", {can.begin(), can.end()});
  check_at_least("examples", flags.examples, 0);
  const StandinSpec spec{flags.datasets, flags.data_root, flags.tokenizer, flags.seed,
                         flags.examples};
  Table table;
  table.title = "Stand-ins";
  table.columns = {{"dataset"}, {"examples", Align::right}, {"folder"}};
  for (const MadeStandin& made : make_standins(spec))
    table.rows.push_back(
        {made.dataset + " (stand-in)", number_cell(made.examples), made.folder.string()});
  table.notes = {
      str("Generated words, mean lengths as published (IPPD Table 1, HPD Table 2) in ids of ",
          spec.shown_tokenizer(), ", seed ", spec.seed, "; 'pardec data stats' shows both."),
      "Only speed can be measured on them; every table that uses them says stand-in."};
  for (const auto& name : spec.datasets)
    if (name == "amazon-reviews")
      table.notes.push_back(str("amazon-reviews: the length of a product's text is not published; ",
                                kProductText, " ids are the project's choice."));
  print_table(table, format);
  return 0;
}

}  // namespace pardec
