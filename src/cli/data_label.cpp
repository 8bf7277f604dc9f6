// `pardec data label`: labels from a teacher's values (HPD).
#include "src/cli/data_teacher.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/number_text.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"
#include "src/teaching/labelling.hpp"

namespace pardec {

int label_data(const DataFlags& flags) {
  const Dataset dataset = teacher_dataset(flags);
  if (dataset.shape == Shape::open)
    throw ConfigError(str("data label: dataset ", dataset.name,
                          " has open prompts, expected one of attributes or questions"));
  const std::vector<Example> examples = select(dataset.examples, flags.limit, 0, /*seed=*/1);
  Teacher teacher(flags);
  LabelResult result;
  {
    Progress progress(parse_progress_style(flags.dry_run ? "none" : flags.progress), "label", 0);
    result = label_examples(
        teacher.store(), {teacher.record(), flags.max_tokens}, examples,
        [&](const auto& next, auto& events) { teacher(next, events); },
        [&](std::int64_t calls) { progress.update(calls, "replies"); });
  }
  if (flags.dry_run) {
    teacher.print_plan("If a reply cannot be used, the service is asked once more.");
    return 0;
  }
  if (const auto code = teacher.stopped()) return *code;
  write_file(flags.out, labelled_lines(result.examples));
  if (!flags.details.empty()) write_file(flags.details, labelled_details(result.examples));
  Table table;
  table.title = "Labelling";
  table.columns = {{"examples", Align::right},   {"labelled", Align::right},
                   {"unreadable", Align::right}, {"refused", Align::right},
                   {"left out", Align::right},   {"undecided", Align::right},
                   {"values", Align::right},     {"none", Align::right}};
  table.rows.emplace_back(1, number_cell(std::ssize(result.examples)));
  for (const LabelState state : kLabelStates)
    table.rows.back().push_back(number_cell(result.count(state)));
  table.rows.back().push_back(number_cell(result.values));
  table.rows.back().push_back(number_cell(result.absent));
  const std::int64_t made = result.count(LabelState::labelled);
  table.notes = {made == 0 ? str(flags.out, " is empty: no example was labelled.")
                           : str(flags.out, ": what is labelled, as dataset jsonl reads it.")};
  print_made(table, {{"Examples without labels", result.reasons}}, flags);
  return teacher.end(result.calls, result.count(LabelState::undecided), made);
}

}  // namespace pardec
