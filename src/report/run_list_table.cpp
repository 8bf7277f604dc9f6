#include "src/report/run_list_table.hpp"

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "src/report/comparison_notes.hpp"
#include "src/report/comparison_table.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/measured_columns.hpp"
#include "src/report/metric_title.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

Cell optional_cell(const std::string& text) { return text.empty() ? no_cell() : Cell(text); }

Cell list_cell(const std::vector<std::string>& all) { return {join(all, ", "), Json(all)}; }

/// Shortens hashes, as in other tables.
std::string short_hashes(const std::string& text) {
  static const std::regex kHash("\\b([0-9a-f]{12})[0-9a-f]{28,52}\\b");
  return std::regex_replace(text, kHash, "$1");
}

/// A difference, with its interval if it has one.
Cell difference_cell(const std::optional<Interval>& difference) {
  if (!difference) return no_cell();
  return {difference_text(*difference),
          Json{{"estimate", json_of(difference->estimate)}, {"interval", ends_of(*difference)}}};
}

std::vector<Cell> row_of(const ListedRun& run) {
  std::vector<std::string> models, paths;
  for (const ModelRow& model : run.models) {
    models.push_back(network_name(model));
    paths.push_back(model.path);
  }
  std::vector<std::string> names, samples;
  for (const DatasetRow& dataset : run.datasets) {
    names.push_back(dataset.name);
    if (dataset.sample) samples.push_back(dataset.name);
  }
  const std::string status = str(name(run.status), run.shard.empty() ? "" : ", shard " + run.shard,
                                 run.oracle ? ", oracle " + *run.oracle : "");
  return {{run.invocation.substr(0, 8), Json(run.invocation)},
          optional_cell(run.name),
          {replace_all(run.started_utc.substr(0, 16), "T", " "), Json(run.started_utc)},
          {str(join(models, ", "), ", ", run.dtype),
           paths.size() == 1 ? Json(paths.front()) : Json(paths)},
          run.dtype,
          list_cell(run.arms),
          list_cell(names),
          list_cell(samples),
          number_cell(run.examples),
          number_cell(run.failed),
          run.speedup ? Cell(str(fixed(*run.speedup, 2), " (", run.arm, ", ", run.dataset, ")"),
                             Json(*run.speedup))
                      : no_cell(),
          run.arm,
          run.dataset,
          run.warnings.empty() ? Cell("-", Json::array()) : list_cell(run.warnings),
          run.score ? Cell(str(fixed(*run.score, 3), " ", metric_title(run.score_name),
                               run.speedup ? "" : str(" (", run.arm, ", ", run.dataset, ")"),
                               run.untrained ? " (untrained)" : ""),
                           Json(*run.score))
                    : no_cell(),
          run.score ? Cell(std::string(run.score_name)) : no_cell(),
          {status, Json(std::string(name(run.status)))},
          optional_cell(run.shard),
          optional_cell(run.note),
          {run.commit.substr(0, 12), Json(run.commit)}};
}

/// The summary row of an arm over several invocations.
std::vector<Cell> row_of(const Sittings& sittings) {
  const RunRow& run = sittings.arm->run.run;
  std::vector<Cell> cells{run.label, str("all ", sittings.count)};
  for (int i = 0; i < 5; ++i) cells.push_back(no_cell());
  cells.push_back(number_cell(sittings.speedup.estimate, 2));
  cells.push_back(ratio_interval_cell(sittings.speedup));
  for (int i = 0; i < 5; ++i) cells.push_back(no_cell());
  return with_dataset(dataset_cells(run.dataset), std::move(cells));
}

void add_notes(Table& table, const AcrossRuns& across) {
  table.notes.push_back(
      "Speeds of different runs were not measured side by side: between them the machine may have "
      "changed as well. A speedup is over the baseline of its own run, measured side by side with "
      "it; arms that are to be compared in speed belong in one run.");
  std::vector<std::string> apart;
  for (const Sittings& sittings : across.sittings)
    apart.push_back(str(sittings.arm->run.run.dataset.name, " ", sittings.arm->run.run.label, " ",
                        percent(sittings.between - 1)));
  if (!apart.empty())
    table.notes.push_back(
        str("all N: over the runs with the first one's settings, what another sitting may find: "
            "random effects of the logarithms (DerSimonian and Laird), interval of Hartung and "
            "Knapp. Spread between sittings, beyond their own intervals: ",
            join(apart, ", "), "."));
  table.notes.push_back(str(
      "score - first's and same answers: on the examples that both answered; ",
      fixed(100 * across.invocations.front().confidence, 0),
      " % interval by the paired jackknife over examples that share no text, none for fewer than ",
      kFewestBlocks, "."));
  for (size_t i = 1; i < across.names.size(); ++i) {
    const auto& lines = across.differences[i];
    const std::string who = str(across.names.front(), " and ", across.names[i]);
    if (lines.empty()) table.notes.push_back(str(who, ": the same settings."));
    for (const std::string& line : lines)
      table.notes.push_back(str(who, ": ", short_hashes(line), "."));
  }
  std::vector<RunSummary> runs;
  for (const AcrossRow& row : across.rows) runs.push_back(row.arm->run);
  if (const std::string note = untrained_note(runs); !note.empty()) table.notes.push_back(note);
}

}  // namespace

Table run_list_table(const RunList& list) {
  Table table;
  table.title = "Runs";
  const auto wide = [](Column column) {
    column.wide = true;
    return column;
  };
  table.columns = {{"run", Align::left, "invocation"},
                   {"name"},
                   {"when (UTC)", Align::left, "started_utc"},
                   wide({"model"}),
                   {"dtype", Align::left, "", /*data_only=*/true},
                   {"arms"},
                   {"datasets"},
                   {"own samples", Align::left, "sample_datasets", /*data_only=*/true},
                   {"n", Align::right},
                   wide({"failed", Align::right}),
                   {"best speedup", Align::right, "speedup"},
                   {"arm", Align::left, "", /*data_only=*/true},
                   {"dataset", Align::left, "", /*data_only=*/true},
                   {"warnings"},
                   wide({"score", Align::right}),
                   {"score name", Align::left, "score_name", /*data_only=*/true},
                   {"status"},
                   {"shard", Align::left, "", /*data_only=*/true},
                   wide({"note"}),
                   wide({"commit"})};
  for (const ListedRun& run : list.runs) table.rows.push_back(row_of(run));
  if (std::ssize(list.runs) < list.matching)
    table.notes.push_back(
        str("The newest ", list.runs.size(), " of ", list.matching, "; `limit=0` lists all."));
  std::set<std::string> samples;
  for (const ListedRun& run : list.runs)
    for (const DatasetRow& dataset : run.datasets)
      if (dataset.sample) samples.insert(dataset.name);
  if (!samples.empty())
    table.notes.push_back(str(join({samples.begin(), samples.end()}, ", "), ": ", kSampleNote));
  if (list.runs.empty())
    table.notes.push_back("No run matches.");
  else
    table.notes.push_back(
        "best speedup: the highest one of an arm that is recommended (shown to be faster, with "
        "answers as good), with the arm and the dataset; warnings: those of this arm on this "
        "dataset; n: examples. "
        "'pardec compare `run=ID`' has intervals and all arms.");
  return table;
}

Table across_table(const AcrossRuns& across) {
  Table table;
  table.title = join(across.names, " and ");
  table.columns = with_dataset({{"arm"},
                                {"run"},
                                {"invocation", Align::left, "", /*data_only=*/true},
                                {"when (UTC)", Align::left, "started_utc"},
                                {"n", Align::right},
                                {"failed", Align::right},
                                {"examples/s", Align::right, "examples_per_second"},
                                {"speedup", Align::right},
                                {"interval", Align::left, "speedup_interval"},
                                {"tokens per pass", Align::right, "tokens_per_forward"},
                                {"score", Align::left, "score_name"},
                                {"value", Align::right, "score"},
                                {"score - first's", Align::left, "score_difference"},
                                {"same answers", Align::right, "identical"}});
  for (size_t r = 0; r < across.rows.size(); ++r) {
    const AcrossRow& row = across.rows[r];
    const RunSummary& run = row.arm->run;
    const double score =
        row.score_name.empty() ? std::nan("") : row.arm->scores.at(row.score_name).value.estimate;
    table.rows.push_back(with_dataset(
        dataset_cells(run.run.dataset),
        {run.run.label,
         across.names[row.invocation],
         run.run.invocation,
         {replace_all(run.run.started_utc.substr(0, 16), "T", " "), Json(run.run.started_utc)},
         number_cell(run.examples),
         number_cell(run.failed_generations),
         number_cell(row.arm->examples_per_second.estimate, 2),
         row.arm->speedup       ? number_cell(row.arm->speedup->ratio.estimate, 2)
         : row.arm->is_baseline ? Cell(kBaselineSpeedup, Json(1.0))
                                : no_cell(),
         row.arm->speedup ? ratio_interval_cell(row.arm->speedup->ratio) : no_cell(),
         number_cell(
             across.invocations[row.invocation].details_of(*row.arm).tokens_per_forward.estimate,
             2),
         row.score_name.empty()
             ? no_cell()
             : Cell(metric_title(row.score_name), Json(std::string(row.score_name))),
         std::isfinite(score)
             ? Cell(fixed(score, 3) + (run.run.untrained ? " (untrained)" : ""), Json(score))
             : no_cell(),
         difference_cell(row.difference),
         row.identical ? Cell(percent(*row.identical), Json(*row.identical)) : no_cell()}));
    const auto of_place = [&](const RunRow& other) {
      return other.label == run.run.label && same_split(other.dataset, run.run.dataset);
    };
    if (r + 1 < across.rows.size() && of_place(across.rows[r + 1].arm->run.run)) continue;
    for (const Sittings& sittings : across.sittings)
      if (of_place(sittings.arm->run.run)) table.rows.push_back(row_of(sittings));
  }
  add_notes(table, across);
  return table;
}

}  // namespace pardec
