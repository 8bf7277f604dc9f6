#include "src/cli/data_flags.hpp"

#include "src/cli/command_line.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

void add_data_flags(CLI::App& app, RunFlags& flags) {
  RunSpec& spec = flags.spec;
  app.add_option(
         "--dataset", spec.datasets,
         "datasets ('pardec list datasets'), and files of your own: NAME=FILE.jsonl, or "
         "NAME=FILE.csv:COLUMN with prompts in that column (NAME=FILE.csv:COLUMN:COLUMN with "
         "references, too)")
      ->delimiter(',')
      ->type_name("A,B");
  app.add_option("--answer-tokens", flags.answer_tokens,
                 "ids chosen for one answer at most on the dataset NAME, whatever --max-new-tokens "
                 "and --per-field say; repeatable")
      ->type_name("NAME=N");
  app.add_flag("--strict-columns", spec.strict_columns,
               "refuse records of your own with columns that are not read");
  app.add_option("--data-root", spec.data_root,
                 "folder with one folder a dataset; without it the project's samples are used")
      ->type_name("DIR");
  app.add_option("--split", spec.split,
                 "train, test, ...; without it the one that each dataset is evaluated on")
      ->type_name("NAME");
  app.add_option("--limit", spec.limit,
                 "a seeded sample of N examples spread over categories, as many of one in turn as "
                 "the largest stack has; 0: all")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--offset", spec.offset, "skip N of that sample's order")
      ->capture_default_str()
      ->type_name("N");
  app.add_option(
         "--shots", spec.shots,
         "worked examples of split train (of the evaluated one where there is no other) in prompts "
         "that ask field by field, and as earlier turns before open prompts; without it as "
         "many as the dataset's protocol has")
      ->type_name("N");
  app.add_flag("--unseen", spec.unseen, "leave out examples whose text is also in the train split");
}

std::vector<std::string> unread_notes(const std::vector<Workload>& workloads) {
  std::vector<std::string> notes;
  for (const Workload& work : workloads) {
    std::vector<std::string> columns;
    for (const UnreadColumn& column : work.dataset.unread)
      columns.push_back(str(column.name, " (", counted(column.records, "record"), ")"));
    if (!columns.empty())
      notes.push_back(str(work.dataset.name, ": columns that are not read: ", join(columns, ", "),
                          "; --strict-columns makes an error of them"));
  }
  return notes;
}

}  // namespace pardec
