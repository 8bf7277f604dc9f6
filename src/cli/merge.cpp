// `pardec merge`: merges the runs of several databases.
#include <iostream>
#include <memory>

#include "src/cli/command_line.hpp"
#include "src/cli/table_output.hpp"
#include "src/report/table.hpp"
#include "src/store/store.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct MergeFlags {
  std::string into;
  std::vector<std::string> from;
  std::string format = "text";
};

/// Adds the contents of the database, in a row that begins with `file`.
void add_row(Table& table, Store& store, const std::string& file) {
  Database& db = store.database();
  table.rows.push_back(
      {file, number_cell(db.integer("SELECT count(*) FROM run")),
       number_cell(db.integer("SELECT count(*) FROM job")),
       number_cell(db.integer("SELECT count(*) FROM generation")),
       number_cell(db.integer("SELECT count(*) FROM generation WHERE error IS NOT NULL"))});
}

int merge(const MergeFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  for (const auto& from : flags.from) {
    Store readable(from, {.read_only = true});  // checks all of them before writing
  }
  Store store(flags.into);
  Table table;
  table.title = str("Merged into ", flags.into);
  table.columns = {{"after"},
                   {"arms", Align::right, "runs"},
                   {"jobs", Align::right},
                   {"answers", Align::right},
                   {"failed", Align::right}};
  table.notes = {"Each row: what the database holds after that file was merged into it."};
  add_row(table, store, flags.into);
  for (const auto& from : flags.from) {
    for (std::string& note : store.merge(from)) table.notes.push_back(std::move(note) + ".");
    add_row(table, store, from);
  }
  print_table(table, format);
  return 0;
}

}  // namespace

Verb merge_verb() {
  return {"merge", "merge the runs of several databases into one",
          "pardec merge all.sqlite shard-0.sqlite shard-1.sqlite",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<MergeFlags>();
            app.add_option("into", flags->into,
                           "database that the runs are written to; created if it does not exist")
                ->required();
            app.add_option("from", flags->from,
                           "databases to read; they are not changed. Shards of one run are joined")
                ->required();
            add_format(app, flags->format);
            return [flags] { return merge(*flags); };
          }};
}

}  // namespace pardec
