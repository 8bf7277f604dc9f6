#include <algorithm>
#include <cmath>

#include "src/findings/score_findings.hpp"
#include "src/report/comparison_notes.hpp"
#include "src/report/comparison_table.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/metric_title.hpp"
#include "src/report/recommendation.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Score, speedup and tokens per forward pass of one arm on one dataset.
Cell matrix_cell(const Comparison& comparison, const ArmFinding& arm, std::string_view metric) {
  const auto score = arm.scores.find(metric);
  const bool scored = score != arm.scores.end();
  const double ratio = arm.speedup ? arm.speedup->ratio.estimate : std::nan("");
  const double tokens = comparison.details_of(arm).tokens_per_forward.estimate;
  return {str(scored ? fixed(score->second.value.estimate, 3) : "-", " · ",
              arm.baseline      ? fixed(ratio, 2)
              : arm.is_baseline ? "1"
                                : "-",
              " · ", fixed(tokens, 2),
              arm.run.failed_generations ? str(" ", arm.run.failed_generations, " failed") : ""),
          Json{{"metric", std::string(metric)},
               {"score", scored ? json_of(score->second.value.estimate) : Json()},
               {"speedup", json_of(ratio)},
               {"tokens_per_forward", json_of(tokens)},
               {"n", arm.run.examples},
               {"failed", arm.run.failed_generations},
               {"answered", arm.state.answers - arm.state.failed - arm.state.empty},
               {"untrained", arm.run.run.untrained}}};
}

}  // namespace

Table matrix_table(const Comparison& comparison) {
  // In order of appearance; arms and datasets that could not be run are at the end.
  std::vector<std::string> labels, names;
  const auto mention = [](std::vector<std::string>& all, const std::string& name) {
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  };
  for (const ArmFinding& arm : comparison.arms) {
    mention(labels, arm.run.run.label);
    mention(names, arm.run.run.dataset.name);
  }
  for (const auto& [pair, reason] : comparison.not_applicable) {
    mention(names, pair.first);
    mention(labels, pair.second);
  }

  Table table;
  table.title = title_of(comparison);
  table.columns = {{"arm"}};
  const bool several = several_networks(runs_of(comparison));
  if (several) table.columns.push_back({"model"});
  std::map<std::string, std::string_view> headline;  // metric of each dataset
  for (const std::string& name : names) {
    std::string shown = name;
    for (const ArmFinding& arm : comparison.arms) {
      if (arm.run.run.dataset.name != name) continue;
      shown = shown_name(arm.run.run.dataset);
      if (const auto metric = headline_score(arm); !headline.contains(name) && !metric.empty())
        headline[name] = metric;
    }
    table.columns.push_back(
        {str(shown, headline.contains(name) ? ": " + metric_title(headline[name]) : ""),
         Align::right, name});
    table.columns.back().messages = true;  // the reason why an arm was not run
  }
  for (const std::string& label : labels) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    const bool untrained = std::any_of(
        comparison.arms.begin(), comparison.arms.end(),
        [&](const ArmFinding& arm) { return arm.run.run.label == label && arm.run.run.untrained; });
    cells.push_back({label + (untrained ? " (untrained)" : ""), Json(label)});
    const auto first =
        std::find_if(comparison.arms.begin(), comparison.arms.end(),
                     [&](const ArmFinding& one) { return one.run.run.label == label; });
    if (several)
      cells.push_back(first == comparison.arms.end()
                          ? no_cell()
                          : Cell(networks_text(first->run.run), Json(first->run.run.model.path)));
    for (const std::string& name : names) {
      const auto arm =
          std::find_if(comparison.arms.begin(), comparison.arms.end(), [&](const ArmFinding& one) {
            return one.run.run.label == label && one.run.run.dataset.name == name;
          });
      const auto reason = comparison.not_applicable.find({name, label});
      cells.push_back(arm != comparison.arms.end() ? matrix_cell(comparison, *arm, headline[name])
                      : reason != comparison.not_applicable.end()
                          ? Cell("n/a", Json{{kNotApplicable, reason->second}})
                          : no_cell());
    }
  }
  for (const Recommendation& one : recommendations(comparison))
    table.conclusion.push_back(one.text());
  table.notes.push_back(
      str("score · speedup over the baseline · tokens per forward pass; ",
          fixed(100 * comparison.confidence, 0),
          " % intervals and all other numbers: pardec compare without `matrix`."));
  for (std::string& note : oracle_notes(comparison)) table.notes.push_back(std::move(note));
  if (several_baselines(comparison)) {
    std::vector<std::string> pairs;
    for (const ArmFinding& arm : comparison.arms)
      if (const ArmFinding* baseline = comparison.baseline_of(arm))
        if (const std::string pair = str(arm.run.run.label, ": ", baseline->run.run.label);
            std::find(pairs.begin(), pairs.end(), pair) == pairs.end())
          pairs.push_back(pair);
    table.notes.push_back(str("baseline of each arm: ", join(pairs, "; "), "."));
  }
  add_uncomputed_notes(table, comparison);
  add_not_applicable_notes(table, comparison);
  add_origin_notes(table, comparison);
  add_warnings(table, comparison);
  return table;
}

}  // namespace pardec
