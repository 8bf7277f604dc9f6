#include "src/report/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "datasets/dataset.hpp"
#include "src/findings/headlines.hpp"
#include "src/findings/score_findings.hpp"
#include "src/report/comparison_notes.hpp"
#include "src/report/comparison_table.hpp"
#include "src/report/measured_columns.hpp"
#include "src/report/metric_title.hpp"
#include "src/report/recommendation.hpp"
#include "src/report/run_examples.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

template <typename Name>
std::vector<std::string> distinct(const std::vector<RunSummary>& runs, const Name& name) {
  std::vector<std::string> out;
  for (const auto& run : runs)
    if (const std::string one = name(run.run); std::find(out.begin(), out.end(), one) == out.end())
      out.push_back(one);
  return out;
}

// The top of the page ---------------------------------------------------------

std::vector<std::string> marks_of(const Comparison& comparison) {
  const std::vector<RunSummary> runs = runs_of(comparison);
  std::vector<std::string> marks;
  if (std::string note = untrained_note(runs); !note.empty()) {
    note.front() = 'U';
    marks.push_back(note + " Only its speed has a meaning.");
  }
  for (std::string& note : oracle_notes(comparison)) {
    note.front() = 'O';
    marks.push_back(std::move(note));
  }
  std::vector<std::string> samples;
  for (const auto& run : runs)
    if (run.run.dataset.sample &&
        std::find(samples.begin(), samples.end(), run.run.dataset.name) == samples.end())
      samples.push_back(run.run.dataset.name);
  if (!samples.empty())
    marks.push_back(str("Own sample: ", join(samples, ", "), samples.size() > 1 ? " are" : " is",
                        " the project's small sample, not the publisher's data."));
  std::vector<std::string> standins;
  for (const auto& run : runs)
    if (run.run.dataset.standin &&
        std::find(standins.begin(), standins.end(), run.run.dataset.name) == standins.end())
      standins.push_back(run.run.dataset.name);
  if (!standins.empty())
    marks.push_back(
        str("Stand-in: ", join(standins, ", "), standins.size() > 1 ? " are" : " is",
            " generated words of the published lengths; only speed can be read from it."));
  std::int64_t failed = 0, open = 0;
  for (const auto& run : runs) {
    failed += run.failed_generations;
    open += run.run.status != RunStatus::done;
  }
  if (failed > 0)
    marks.push_back(str(counted(failed, "answer"),
                        " failed; the tables count them. In scores of right and wrong answers, a "
                        "failed answer is wrong."));
  if (open > 0)
    marks.push_back(str("Still running, or stopped: ", open, " of ",
                        counted(std::ssize(runs), "arm"),
                        "; numbers are of what was done until then."));
  if (const std::string& type = runs.front().run.build_type; type != "Release")
    marks.push_back(str("Measured with a ", type, " build."));
  return marks;
}

/// The headline score of a dataset, with its difference from the baseline's.
std::string score_text(const ArmFinding& arm) {
  const auto metric = headline_score(arm);
  const auto score = arm.scores.find(metric);
  if (arm.run.run.untrained || score == arm.scores.end()) return "";
  std::string text = str(metric_title(metric), " ", fixed(score->second.value.estimate, 3));
  if (const auto& difference = score->second.difference)
    text += str(", ", difference_text(*difference), " against the baseline");
  return text;
}

Highlight highlight_of(const Comparison& comparison, const ArmFinding& arm) {
  const ArmFinding& baseline = *comparison.baseline_of(arm);
  const RunRow& run = arm.run.run;
  Highlight highlight;
  highlight.label = str(run.dataset.name, ": ", run.label, " against ", baseline.run.run.label);
  const Interval& ratio = arm.speedup->ratio;
  highlight.value = fixed(ratio.estimate, 2) + "×";
  highlight.range = ratio_interval_cell(ratio).text;
  highlight.beside.push_back(str(fixed(arm.examples_per_second.estimate, 2), " against ",
                                 fixed(baseline.examples_per_second.estimate, 2), " ",
                                 stored_dataset(run.dataset.name).unit, "/s"));
  if (std::isfinite(arm.likeness))
    highlight.beside.push_back(percent(arm.likeness) +
                               (comparison.forced() ? " same choices" : " identical answers"));
  if (const std::string score = score_text(arm); !score.empty()) highlight.beside.push_back(score);
  highlight.beside.push_back(size_of({arm.run}));
  std::vector<std::string> codes;
  for (const Warning& warning : comparison.warnings)
    if (warning.arm == run.label && warning.dataset == run.dataset.name)
      codes.push_back(replace_all(warning.code, "_", " "));
  if (!codes.empty()) highlight.beside.push_back("\u26a0 " + join(codes, ", "));
  return highlight;
}

/// Adds the recommended arms, and each dataset's headline if an arm is shown to be better.
void add_highlights(Report& report, const Comparison& comparison) {
  for (const Recommendation& one : recommendations(comparison)) {
    report.advice.push_back(
        {str("Of these, on this machine, for ", one.dataset, ": ", one.said), {}});
    for (const std::string* more : {&one.undecided, &one.against})
      if (!more->empty()) report.advice.back().more.push_back(*more);
  }
  for (const Headline& headline : headlines_of(comparison))
    if (headline.best) report.highlights.push_back(highlight_of(comparison, *headline.best));
}

/// Adds the table's warnings to the top, and those of an arm to its row.
void add_warnings(Report& report, ReportTable& table, const Comparison& comparison) {
  table.warnings.resize(comparison.arms.size());
  for (const MergedWarning& merged : merge_warnings(table.table)) {
    report.warnings.push_back({replace_all(merged.code, "_", " "), {}, merged.advice});
    ReportWarning& shown = report.warnings.back();
    for (const MergedWarning::Finding& finding : merged.findings) {
      shown.findings.push_back(finding.text);
      for (const std::size_t one : finding.members) {
        const Table::Warning& warning = table.table.warnings[one];
        for (std::size_t a = 0; a < comparison.arms.size(); ++a) {
          const RunRow& run = comparison.arms[a].run.run;
          if (run.label == warning.arm && run.dataset.name == warning.dataset)
            table.warnings[a].push_back({report.warnings.size() - 1, warning.text()});
        }
      }
    }
  }
}

// How it was measured -------------------------------------------------------------

std::string begin_and_end(const std::string& begin, const std::optional<std::string>& end) {
  return end ? begin + " to " + *end : begin + ", not ended";
}

std::string json_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump(value);
}

std::vector<FactGroup> facts_of(const Comparison& comparison) {
  const std::vector<RunSummary> runs = runs_of(comparison);
  const RunRow& first = runs.front().run;
  FactGroup run{"Run", {}}, order{"Order and blocks", {}}, machine{"Machine", {}},
      network{"Network and data", {}};
  std::vector<std::string> words;
  for (const auto& argument : first.argv) words.push_back(shell_word(argument));
  run.facts = {{"id", first.invocation},
               {"command", words.empty() ? "not recorded" : join(words, " ")},
               {"commit", first.commit},
               {"build", first.build_type},
               {"seed", std::to_string(first.seed)},
               {"time (UTC)", begin_and_end(first.started_utc, first.ended_utc)}};
  for (const char* key : {"temperature", "top_k", "top_p", "max_new_tokens", "per_field", "shots",
                          "limit", "offset", "ignore_eos", "eos", "chat_template"})
    if (first.config.contains(key)) run.facts.push_back({key, json_text(first.config[key])});

  std::vector<std::string> batch, blocks;
  for (const ArmFinding& arm : comparison.arms) {
    const RunSummary& one = arm.run;
    batch.push_back(str(one.run.dataset.name, " ", one.run.label, " ", shown_in_flight(arm)));
    blocks.push_back(
        str(one.run.dataset.name, " ", one.run.label, " ", one.measured_blocks, "/", one.blocks));
  }
  order.facts = {{"order", first.order == "interleaved"
                               ? "interleaved: arms take turns block by block, in alternating order"
                               : first.order},
                 {"repeats", std::to_string(first.repeats)},
                 {"in flight", join(batch, ", ") + " jobs"},
                 {"measured", join(blocks, ", ") + " blocks measured as a whole in one process"},
                 {"time",
                  "monotonic clock; a block's time does not include preparing prompts and storing "
                  "answers"}};
  if (!first.shard.empty()) order.facts.push_back({"shard", first.shard});

  machine.facts = {{"device", first.device},
                   {"computed in", first.dtype},
                   {"threads", std::to_string(first.threads)}};
  for (const auto& [key, value] : first.environment.items())
    if (const std::string text = json_text(value); !text.empty())
      machine.facts.push_back({key, text});

  std::vector<std::string> hashes;
  for (const RunSummary& one : runs) {
    const ModelRow& model = one.run.model;
    if (std::find(hashes.begin(), hashes.end(), model.hash) != hashes.end()) continue;
    hashes.push_back(model.hash);
    network.facts.push_back({"network", network_name(model)});
    network.facts.push_back({"hash", model.hash});
    for (const auto& [key, value] : model.shape.items())
      if (key != kTokenizerHash)
        network.facts.push_back(
            {replace_all(key, "_", " "),
             value.is_number_integer() ? grouped(value.get<std::int64_t>()) : json_text(value)});
  }
  for (const auto& one : distinct(runs, [](const RunRow& row) {
         return str(row.dataset.name, " ", row.dataset.split_text(), ": ", row.dataset.sha256);
       }))
    network.facts.push_back({"data", one});
  for (const auto& one : distinct(runs, [](const RunRow& row) { return row.prompt_hash; }))
    network.facts.push_back({"prompt", one});
  const bool several = several_networks(runs);
  for (const auto& one : distinct(runs, [&](const RunRow& row) {
         return str(row.label, ": ", row.decoder, " ", dump(row.options),
                    several ? " on " + networks_text(row) : "");
       }))
    network.facts.push_back({"arm", one});
  return {run, order, machine, network};
}

}  // namespace

// The page --------------------------------------------------------------------------

void add_figures(Report& report, const std::vector<NamedFigure>& figures) {
  if (figures.empty()) return;
  if (!can_draw()) {
    report.without_figures =
        "Figures are left out: gnuplot was missing where this report was made (apt-get install "
        "gnuplot-nox). The tables hold the same numbers.";
    std::fprintf(stderr, "pardec: %s\n", report.without_figures.c_str());
    return;
  }
  for (const auto& named : figures)
    report.figures.push_back(
        {named.heading, named.caption,
         inline_svg(draw(named.figure, FigureFormat::svg), str("f", report.figures.size(), "-"),
                    named.heading + ". " + named.caption)});
}

Report make_report(Store& store, const Measurements& measured, const Comparison& comparison,
                   const ExampleLimits& limits, const std::vector<Trace>& traces) {
  const std::vector<RunSummary> runs = runs_of(comparison);
  const RunRow& first = runs.front().run;
  Report report;
  const auto labels = distinct(runs, [](const RunRow& row) { return row.label; });
  constexpr size_t kNamed = 5;  // with more arms, the title only has their number
  report.title =
      str(labels.size() > kNamed ? counted(std::ssize(labels), "arm") : join(labels, ", "), " on ",
          join(distinct(runs, [](const RunRow& row) { return row.dataset.name; }), ", "));
  const bool several = several_networks(runs);
  report.subtitle = str(
      several ? "several networks" : network_name(first.model),
      !several && first.model.shape.contains("parameters")
          ? str(" (", grouped(first.model.shape["parameters"].get<std::int64_t>()), " parameters)")
          : "",
      ", ", first.dtype, ", ", first.device, ", ", size_of(runs), ", ",
      first.started_utc.substr(0, 10));
  report.marks = marks_of(comparison);
  add_highlights(report, comparison);
  report.tables.push_back({"comparison", "Comparison", comparison_table(comparison)});
  add_warnings(report, report.tables.back(), comparison);
  report.tables.push_back(
      {"accounting", "Tokens and time", accounting_table(accounts_of(measured.figures, {}))});
  if (Table differences = differences_table(differing_answers(store, measured, 20));
      !differences.rows.empty())
    report.tables.push_back(
        {"differences", "Where answers differ from the baseline's", std::move(differences)});
  add_figures(report, comparison_figures(comparison));
  report.examples = draw_examples(store, measured, comparison, traces, limits);
  report.facts = facts_of(comparison);
  return report;
}

}  // namespace pardec
