// `pardec data rewrite`: a teacher rewrites answers into branches (ASPD).
#include <algorithm>
#include <cstdio>

#include "src/cli/data_teacher.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/number_text.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"
#include "src/teaching/rewriting.hpp"

namespace pardec {

int rewrite_data(const DataFlags& flags) {
  Dataset dataset = teacher_dataset(flags);
  if (dataset.shape != Shape::open)
    throw ConfigError(str("data rewrite: dataset ", dataset.name,
                          " asks for fields, expected one of open prompts"));
  if (flags.answers.there()) {
    const OwnAnswerCount own = answer_by_run(dataset, flags.answers);
    std::fprintf(stderr, "answers of run %s: %lld kept, %lld left out\n", flags.answers.run.c_str(),
                 static_cast<long long>(own.kept), static_cast<long long>(own.left_out()));
  }
  const std::vector<Example> examples = select(dataset.examples, flags.limit, 0, /*seed=*/1);
  const Tokenizer tokenizer = tokenizer_of(flags);
  Teacher teacher(flags);
  RewriteResult result;
  {
    Progress progress(parse_progress_style(flags.dry_run ? "none" : flags.progress), "rewrite", 0);
    result = rewrite_answers(
        teacher.store(), {teacher.record(), flags.max_tokens, {}}, examples, tokenizer,
        [&](const auto& next, auto& events) { teacher(next, events); },
        [&](std::int64_t calls) { progress.update(calls, "replies"); });
  }
  if (flags.dry_run) {
    teacher.print_plan(
        "Votes on the rewrites follow: 3 for each group, and 6 for each rewrite that is verified. "
        "A vote that cannot be read is asked for once more.");
    return 0;
  }
  if (const auto code = teacher.stopped()) return *code;
  write_file(flags.out, rewritten_lines(result.answers));
  if (!flags.details.empty()) write_file(flags.details, rewritten_details(result.answers));
  Table stages;
  stages.title = "Rewriting";
  stages.columns = {
      {"stage"}, {"passed", Align::right}, {"of", Align::right}, {"share", Align::right}};
  for (const auto& [name, count] : result.stages) {
    const double share = static_cast<double>(count.passed) / static_cast<double>(count.of);
    stages.rows.push_back({name, number_cell(count.passed), number_cell(count.of),
                           count.of == 0 ? no_cell() : Cell(percent(share), Json(share))});
  }
  std::vector<ParallelCounts> counts;
  for (const RewrittenAnswer& answer : result.answers)
    if (answer.state == RewriteState::parallel) counts.push_back(answer.parallelism.counts);
  const ParallelMetrics metrics = parallel_metrics(counts);
  const std::int64_t parallel = result.count(RewriteState::parallel),
                     serial = result.count(RewriteState::serial);
  const std::string how =
      counts.empty() ? "" : str(" (DP ", percent(metrics.dp), ", ABN ", fixed(metrics.abn, 2), ")");
  stages.notes = {
      str(flags.out, ": ", parallel, " in parallel", how, ", ", serial, " serial; ",
          result.count(RewriteState::left_out), " left out, ",
          result.count(RewriteState::undecided), " undecided. ",
          parallel + serial == 0 ? "It is empty."
                                 : str("'pardec train --format ", kMarkupFormat, "' learns them.")),
      "Groups are voted on only in rewrites that keep the text. Of the rewrites with an "
      "independent group, the most parallel one is verified first."};
  print_made(stages,
             {{"Answers that are not in parallel", result.reasons}, {"Rewrites", result.fell}},
             flags);
  // If every reply of the teacher was unusable, serial answers do not count as results.
  const bool useless = std::any_of(result.stages.begin(), result.stages.end(), [](const auto& one) {
    return one.first == "rewrites received" && one.second.of > 0 && one.second.passed == 0;
  });
  return teacher.end(result.calls, result.count(RewriteState::undecided),
                     useless ? 0 : parallel + serial);
}

}  // namespace pardec
