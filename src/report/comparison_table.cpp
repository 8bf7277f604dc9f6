#include "src/report/comparison_table.hpp"

#include <algorithm>
#include <cmath>

#include "src/findings/score_findings.hpp"
#include "src/findings/speed_findings.hpp"
#include "src/report/comparison_notes.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/measured_columns.hpp"
#include "src/report/metric_title.hpp"
#include "src/report/recommendation.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

Cell share_cell(double share) { return Cell(percent(share), json_of(share)); }

// Requested and actual concurrency.

/// `text`, with the two numbers as its value.
Cell reached_cell(std::string text, const Reached& reached) {
  return {std::move(text), Json::array({json_of(reached.reached), Json(reached.asked)})};
}

Cell stack_cell(const Reached& stack) {
  const bool whole = fixed(stack.reached, 2) == fixed(stack.asked, 2);
  return reached_cell(
      whole ? std::to_string(stack.asked) : str(fixed(stack.reached, 1), " of ", stack.asked),
      stack);
}

// Speed.

Tone tone_of(SpeedShown speed) {
  switch (speed) {
    case SpeedShown::faster:
      return Tone::good;
    case SpeedShown::slower:
      return Tone::bad;
    case SpeedShown::open:
      return Tone::caution;
    case SpeedShown::unknown:
      break;
  }
  return Tone::plain;
}

/// The speedup, and its interval for programs.
std::vector<Cell> speed_cells(const Comparison& comparison, const ArmFinding& arm) {
  if (!arm.speedup)
    return {!arm.baseline && arm.is_baseline ? Cell(kBaselineSpeedup, Json(1.0)) : no_cell(),
            no_cell()};
  const Interval& ratio = arm.speedup->ratio;
  const bool broken = comparison.is_broken(arm);
  Cell interval = ratio_interval_cell(ratio);
  return {Cell(str(fixed(ratio.estimate, 2), interval.value->is_null() ? "" : " " + interval.text,
                   broken ? " (broken)" : ""),
               json_of(ratio.estimate), broken ? Tone::bad : tone_of(speed_shown(arm))),
          std::move(interval)};
}

/// The largest possible speedup on each machine, from traces.
void add_allowed_cells(std::vector<Cell>& cells, const Comparison& comparison,
                       const ArmFinding& arm) {
  const auto& allowed = comparison.details_of(arm).allowed;
  for (size_t m = 0; m < comparison.allowing.size(); ++m)
    cells.push_back(allowed ? number_cell(allowed->speedup[m], 2) : no_cell());
}

/// Number of distinct examples, and how often each was answered: "12", "12 x 3", "12 x 2 + 4
/// repeated".
Cell count_cell(const ArmFinding& arm) {
  const std::int64_t examples = arm.run.examples, answers = arm.state.answers;
  std::string text = std::to_string(examples);
  if (examples > 0 && answers >= 2 * examples) text += str(" x ", answers / examples);
  if (examples > 0 && answers % examples) text += str(" + ", answers % examples, " repeated");
  return {std::move(text), Json(examples)};
}

// Scores.

/// Whether it is the headline score of some dataset here; people also see its difference.
bool is_headline(const Comparison& comparison, std::string_view total) {
  return std::any_of(comparison.arms.begin(), comparison.arms.end(),
                     [&](const ArmFinding& arm) { return headline_score(arm) == total; });
}

/// Whether some arm has verdicts for this total, as the first total of their metric.
bool is_judged(const Comparison& comparison, std::string_view total) {
  return std::any_of(comparison.judged.begin(), comparison.judged.end(),
                     [&](const JudgedShare& share) { return share.total == total; });
}

/// The headline score of an arm's dataset; if the arm has no score, its baseline's.
std::string_view first_metric(const Comparison& comparison, const ArmFinding& arm) {
  if (const auto metric = headline_score(arm); !metric.empty() || !arm.baseline) return metric;
  return headline_score(*comparison.baseline_of(arm));
}

/// The headline score that all arms with a score share; empty: there are several, or none.
std::string_view common_metric(const Comparison& comparison) {
  std::string_view common;
  for (const ArmFinding& arm : comparison.arms) {
    const auto metric = first_metric(comparison, arm);
    if (metric.empty()) continue;
    if (!common.empty() && common != metric) return {};
    common = metric;
  }
  return common;
}

/// Adds difference, verdict and value of the first score, which are columns of the short table.
void add_first_score_columns(Table& table, const Comparison& comparison) {
  const auto common = common_metric(comparison);
  const std::string header = common.empty() ? "score" : metric_title(common);
  const auto brief = [](Column column) {
    column.brief = true;
    return column;
  };
  table.columns.push_back(brief({"difference", Align::left, "score_difference"}));
  table.columns.push_back({"verdict"});
  table.columns.push_back(brief({header, Align::left, "score"}));
  table.columns.back().number = true;
  table.columns.push_back({"metric", Align::left, "score_name", /*data_only=*/true});
}

void add_score_columns(Table& table, const Comparison& comparison) {
  for (const auto total : comparison.scores) {
    const std::string header = metric_title(total), key(total);
    const auto wide = [](Column column) {
      column.wide = true;
      return column;
    };
    table.columns.push_back(wide({header, Align::right, key}));
    table.columns.push_back(
        {header + " interval", Align::left, key + "_interval", /*data_only=*/true});
    table.columns.push_back(
        wide({header + " - baseline's", Align::left, key + "_difference",
              /*data_only=*/comparison.forced() || !is_headline(comparison, total)}));
    if (!is_judged(comparison, total)) continue;
    table.columns.push_back({header + " judge", Align::left, key + "_judge", /*data_only=*/true});
    for (const char* count : {"scored", "of", "refused", "unscored", "errors"})
      table.columns.push_back({str(header, " ", count), Align::right, str(key, "_", count),
                               /*data_only=*/true});
  }
}

std::string_view shown(ScoreFinding::Verdict verdict) {
  switch (verdict) {
    case ScoreFinding::Verdict::not_worse:
      return "not worse";
    case ScoreFinding::Verdict::worse:
      return "worse";
    case ScoreFinding::Verdict::open:
      break;
  }
  return "open";
}

/// `broken`: most answers of the arm or its baseline are unusable, so there is no verdict.
Cell difference_cell(const ScoreFinding& score, double margin, bool broken) {
  if (!score.difference) return no_cell();
  const Interval& d = *score.difference;
  Json value{{"estimate", json_of(d.estimate)}, {"interval", ends_of(d)}};
  const std::string_view verdict = shown(score.verdict(margin));
  value["margin"] = margin;
  value["verdict"] = broken ? Json() : Json(verdict);
  value["pairs"] = score.pairs;
  value["left_out"] = score.left_out;
  value["would_do"] = score.would_do ? Json(*score.would_do) : Json();
  std::string text = difference_text(d);
  if (broken)
    text += " (broken)";
  else if (std::isfinite(d.low))
    text += str(" ", verdict);
  if (score.p) {
    value["p_mcnemar_holm"] = *score.p;
    text += *score.p < 0.001 ? " p < 0.001" : str(" p ", fixed(*score.p, 3));
  }
  return {std::move(text), std::move(value)};
}

/// Adds the cells of add_first_score_columns.
void add_first_score_cells(std::vector<Cell>& cells, const Comparison& comparison,
                           const ArmFinding& arm) {
  const auto metric = headline_score(arm);
  const ScoreFinding* score = first_score(arm);
  const QualityShown quality = quality_shown(comparison, arm);
  if (score && score->difference) {
    Cell cell = difference_cell(*score, comparison.margin, quality == QualityShown::broken);
    cells.emplace_back(difference_text(*score->difference), *cell.value);
  } else {
    cells.push_back(no_cell());
  }
  const std::string_view word = verdict_word(comparison, arm);
  cells.emplace_back(verdict_text(comparison, arm), word.empty() ? Json() : Json(word),
                     verdict_tone(quality));
  if (score) {
    const double value = score->value.estimate;
    cells.push_back(Cell(str(fixed(value, 3), arm.run.run.untrained ? " (untrained)" : "",
                             common_metric(comparison).empty() ? " " + metric_title(metric) : ""),
                         json_of(value)));
    cells.push_back(std::string(metric));
  } else {
    cells.insert(cells.end(), 2, no_cell());
  }
}

/// Adds the judge, and the number of verdicts.
void add_judged_cells(std::vector<Cell>& cells, const Comparison& comparison, const RunRow& run,
                      std::string_view total) {
  const auto share =
      std::find_if(comparison.judged.begin(), comparison.judged.end(), [&](const JudgedShare& one) {
        return one.total == total && one.dataset == run.dataset.name && one.arm == run.label;
      });
  if (share == comparison.judged.end()) {
    cells.insert(cells.end(), 6, no_cell());
    return;
  }
  cells.emplace_back(share->judge);
  for (const std::int64_t count :
       {share->scored, share->of, share->refused, share->unscored, share->errors})
    cells.push_back(number_cell(count));
}

void add_score_cells(std::vector<Cell>& cells, const Comparison& comparison,
                     const ArmFinding& arm) {
  const bool broken = comparison.is_broken(arm);
  for (const auto total : comparison.scores) {
    const auto found = arm.scores.find(total);
    if (found == arm.scores.end()) {
      cells.insert(cells.end(), 3, no_cell());
    } else {
      const Interval& value = found->second.value;
      cells.push_back(Cell(fixed(value.estimate, 3) + (arm.run.run.untrained ? " (untrained)" : ""),
                           Json(value.estimate)));
      cells.push_back(interval_cell(value, 3));
      cells.push_back(difference_cell(found->second, comparison.margin, broken));
    }
    if (is_judged(comparison, total)) add_judged_cells(cells, comparison, arm.run.run, total);
  }
}

// The decoders' own counts.

void add_own_columns(Table& table, const Comparison& comparison) {
  for (const DecoderEntry* entry : comparison.own)
    for (const OwnColumn& column : entry->own_columns.columns)
      table.columns.push_back(
          {std::string(column.header), Align::right, std::string(column.key), false, {}, true});
}

void add_own_cells(std::vector<Cell>& cells, const Comparison& comparison, const ArmFinding& arm) {
  const auto& own = comparison.details_of(arm).own;
  for (size_t d = 0; d < comparison.own.size(); ++d)
    for (size_t c = 0; c < own[d].size(); ++c) {
      const OwnColumn& column = comparison.own[d]->own_columns.columns[c];
      const double value = own[d][c];
      cells.push_back(!std::isfinite(value) ? no_cell()
                      : column.percent      ? share_cell(value)
                                            : number_cell(value, column.decimals));
    }
}

/// Adds one row with the reason for each arm that could not be run, for programs; people see it in
/// the notes.
void add_not_applicable_rows(Table& table, const Comparison& comparison) {
  if (comparison.not_applicable.empty()) return;
  const size_t before = table.columns.size();
  table.columns.push_back({"cannot run", Align::left, "cannot_run", /*data_only=*/true});
  table.columns.back().messages = true;
  for (std::vector<Cell>& cells : table.rows) cells.push_back(no_cell());
  for (const auto& [pair, reason] : comparison.not_applicable) {
    const auto shown = std::find_if(
        comparison.arms.begin(), comparison.arms.end(),
        [&name = pair.first](const ArmFinding& arm) { return arm.run.run.dataset.name == name; });
    std::vector<Cell>& cells = table.rows.emplace_back(before, no_cell());
    const std::vector<Cell> dataset = shown == comparison.arms.end()
                                          ? dataset_cells(pair.first)
                                          : dataset_cells(shown->run.run.dataset);
    std::copy(dataset.begin(), dataset.end(), cells.begin());
    for (size_t c = dataset.size(); c < before; ++c)
      if (table.columns[c].header == "arm")
        cells[c] = pair.second;
      else if (table.columns[c].header == "n" || table.columns[c].header == "speedup")
        cells[c] = Cell("n/a", Json());
    cells.push_back(reason);
  }
}

// Notes.

/// Reports the results of --target-ci.
void add_target_notes(Table& table, const Comparison& comparison) {
  std::vector<std::string> stopped, wide;
  double target = 0;
  for (const ArmFinding& arm : comparison.arms) {
    const RunRow& run = arm.run.run;
    if (!run.config.contains("target_ci") || !arm.speedup) continue;
    target = run.config["target_ci"].get<double>();
    const auto planned = run.config.value("planned_blocks", std::int64_t{0});
    const std::string who = str(run.dataset.name, " ", run.label);
    if (!is_within(arm.speedup->ratio, target))
      wide.push_back(who);
    else if (arm.blocks < planned)
      stopped.push_back(str(who, " after ", arm.blocks, " of ", planned, " blocks"));
  }
  if (!stopped.empty())
    table.notes.push_back(str("stopped (`target_ci`): ", join(stopped, ", "),
                              ": half of the speedup's interval is at most ", percent(target),
                              " of it. Since it is checked repeatedly, it contains the true value "
                              "a little less often than its confidence level."));
  if (!wide.empty())
    table.notes.push_back(str("not stopped (`target_ci` ", percent(target), "): ", join(wide, ", "),
                              ": the speedup's interval is wider."));
}

/// How close the choices were at the first difference between an arm's answers and the baseline's.
std::string departure_note(const ArmFinding& arm, const ArmFinding* baseline) {
  const Departure& departure = *arm.departure;
  const RunRow& run = arm.run.run;
  std::string note = str(run.dataset.name, " ", run.label, ": ", departure.departed, " of ",
                         counted(departure.compared, "answer"), " differ from the baseline's");
  if (departure.median_gap)
    note += str("; logit gap at the first differing token: median ",
                fixed(*departure.median_gap, 3), ", least ", fixed(*departure.least_gap, 4));
  if (departure.without_gap) note += str("; answers without such a token: ", departure.without_gap);
  const bool greedy = run.config.value("temperature", 0.0) == 0;
  const bool same = baseline && baseline->run.run.model.hash == run.model.hash;
  if (same && greedy && run.dtype != "fp32" && find_decoder(run.decoder).exact)
    note += "; exact only in fp32: here attention is summed in another order";
  return note + ".";
}

/// A margin, as the lower limit of a difference that counts as not worse.
std::string below(double margin) { return margin > 0 ? str("-", margin) : "0"; }

/// Explains the columns that are always shown.
void add_short_notes(Table& table, const Comparison& comparison, bool several) {
  const std::string percents = fixed(100 * comparison.confidence, 0) + " %";
  for (std::string& note : oracle_notes(comparison)) table.notes.push_back(std::move(note));
  const bool scored = !comparison.forced() && !comparison.scores.empty();
  table.notes.push_back(str(
      "speedup: the baseline's seconds divided by the arm's, with its ", percents, " interval",
      scored ? str("; difference: the score minus the baseline's; not worse: its interval lies ",
                   std::any_of(comparison.scores.begin(), comparison.scores.end(), lower_is_better)
                       ? str("above ", below(comparison.margin),
                             ", or, for scores where lower is better, below ", comparison.margin)
                       : "above " + below(comparison.margin),
                   " (`margin`)")
             : "",
      "; tokens per pass: tokens generated for one answer in one forward pass."));
  if (!several) return;
  std::vector<std::string> networks;
  for (const ArmFinding& arm : comparison.arms)
    if (const std::string one = str(arm.run.run.label, " on ", networks_text(arm.run.run));
        std::find(networks.begin(), networks.end(), one) == networks.end())
      networks.push_back(one);
  table.notes.push_back(str("networks: ", join(networks, ", "), "."));
}

/// Explains the other columns.
void add_column_notes(Table& table, const Comparison& comparison) {
  const std::string percents = fixed(100 * comparison.confidence, 0) + " %";
  table.wide_notes.push_back(
      str("speedup: ratio of total seconds on the same blocks, arms alternating; ", percents,
          " interval by the paired jackknife over blocks (Student's t), none for fewer than ",
          kFewestBlocks, ". n: examples, and how often each was answered."));
  table.wide_notes.push_back(
      str("in flight: mean number of jobs in a forward pass, of the requested number; streams: "
          "mean number of streams for which a pass chooses a token: answers, or values or "
          "questions that are decoded separately.",
          comparison.stacks ? " stack: examples in a job." : ""));
  table.wide_notes.emplace_back(
      "tokens/s: generated tokens divided by wall time, for arms whose tokens are the baseline's "
      "by construction; latency: from the start of an answer's job to its end, median. More "
      "speeds: `format=json`.");
  if (comparison.forced()) return;
  const bool value_f1 = !comparison.scores.empty() && comparison.scores.front() == "f1_micro";
  table.wide_notes.push_back(str(
      "identical: answers equal to the baseline's in every field.",
      value_f1 ? " F1 as ExtractGPT counts it; strict: unannotated fields count as absent." : ""));
  if (comparison.scores.empty()) return;
  table.wide_notes.push_back(str(
      "score - baseline's: ", percents,
      " interval by the paired jackknife over examples that share no text, none for fewer than ",
      kFewestBlocks, "; not worse: it lies above ", below(comparison.margin), " (compare `margin`)",
      std::any_of(comparison.scores.begin(), comparison.scores.end(), lower_is_better)
          ? ", for scores where lower is better (degenerate, repetition) below it"
          : "",
      "; p: McNemar's exact test of right and wrong answers, Holm's adjustment for all rows and "
      "scores. Intervals of every score: `format=json`."));
}

}  // namespace

std::string shown_in_flight(const ArmFinding& arm) {
  return std::isfinite(arm.jobs.reached) ? str(fixed(arm.jobs.reached, 1), " of ", arm.jobs.asked)
                                         : std::to_string(arm.jobs.asked);
}

Table comparison_table(const Comparison& comparison) {
  const bool oracle = comparison.forced();
  Table table;
  table.title = title_of(comparison);
  const auto wide = [](Column column) {
    column.wide = !column.data_only;
    return column;
  };
  table.columns = with_dataset({{"arm"}});
  const bool several = several_networks(runs_of(comparison));
  if (several) table.columns.push_back(wide({"model"}));
  // People see it if it varies: a sweep has one baseline for each batch size.
  table.columns.push_back({"baseline"});
  table.columns.back().wide = !several_baselines(comparison);
  table.columns.push_back({"speedup"});
  table.columns.back().number = true;
  table.columns.push_back({fixed(100 * comparison.confidence, 0) + " % interval", Align::left,
                           "speedup_interval", /*data_only=*/true});
  add_first_score_columns(table, comparison);
  table.columns.push_back({"tokens per pass", Align::right, "tokens_per_forward"});
  const bool experts =
      std::any_of(comparison.arms.begin(), comparison.arms.end(),
                  [](const ArmFinding& arm) { return std::isfinite(arm.experts); });
  if (experts)
    table.columns.push_back({"experts read a pass", Align::right, "experts_read_per_pass"});
  if (comparison.stacks)
    table.columns.push_back(wide({"stack", Align::right, "", false, {"", "asked"}}));
  for (const Column& column :
       std::vector<Column>{{"in flight", Align::right, "in_flight", false, {"", "asked"}},
                           {"streams", Align::right},
                           {"n", Align::right},
                           {"failed", Align::right},
                           {comparison.unit + "/s", Align::right, "examples_per_second"},
                           {"blocks", Align::right},
                           {oracle ? "same choices" : "identical", Align::right,
                            oracle ? "same_choices" : "identical"}})
    table.columns.push_back(wide(column));
  const bool guesses =
      std::any_of(comparison.arms.begin(), comparison.arms.end(),
                  [](const ArmFinding& arm) { return arm.run.checking_passes() > 0; });
  if (guesses) table.columns.push_back(wide({"accepted length", Align::right, "accept_length"}));
  // Shown because --hardware requested it.
  for (const std::string& machine : comparison.allowing)
    table.columns.push_back(
        {str("speedup at most (", machine, ")"), Align::right, str("speedup_at_most_", machine)});
  if (comparison.exact_matches) table.columns.push_back(wide({"EM", Align::right, "em"}));
  for (const Column& column : measured_columns(comparison))
    table.columns.push_back(column.key == "forwards_per_second" && !comparison.hardware.empty()
                                ? column
                                : wide(column));
  add_score_columns(table, comparison);
  add_own_columns(table, comparison);

  for (const ArmFinding& arm : comparison.arms) {
    const RunSummary& run = arm.run;
    std::vector<Cell>& cells = table.rows.emplace_back();
    cells = with_dataset(dataset_cells(run.run.dataset), {run.run.label});
    if (several) cells.push_back({networks_text(run.run), Json(run.run.model.path)});
    cells.push_back(arm.baseline ? Cell(comparison.baseline_of(arm)->run.run.label) : no_cell());
    for (Cell& cell : speed_cells(comparison, arm)) cells.push_back(std::move(cell));
    add_first_score_cells(cells, comparison, arm);
    cells.push_back(number_cell(comparison.details_of(arm).tokens_per_forward.estimate, 2));
    if (experts)
      cells.push_back(std::isfinite(arm.experts) ? number_cell(arm.experts, 1) : no_cell());
    if (comparison.stacks) cells.push_back(stack_cell(arm.stack));
    cells.push_back(reached_cell(shown_in_flight(arm), arm.jobs));
    cells.push_back(std::isfinite(arm.streams) ? number_cell(arm.streams, 1) : no_cell());
    cells.push_back(count_cell(arm));
    cells.push_back(number_cell(run.failed_generations));
    cells.push_back(number_cell(arm.examples_per_second.estimate, 2));
    cells.push_back(number_cell(arm.speedup ? arm.speedup->blocks : arm.blocks));
    cells.push_back(arm.baseline ? share_cell(arm.likeness) : no_cell());
    if (guesses)
      cells.push_back(run.checking_passes() > 0 ? number_cell(run.accept_length(), 2) : no_cell());
    add_allowed_cells(cells, comparison, arm);
    if (comparison.exact_matches)
      cells.push_back(std::isfinite(arm.exact_match) ? share_cell(arm.exact_match) : no_cell());
    add_measured_cells(cells, comparison, arm);
    add_score_cells(cells, comparison, arm);
    add_own_cells(cells, comparison, arm);
  }

  add_not_applicable_rows(table, comparison);
  for (const Recommendation& one : recommendations(comparison))
    table.conclusion.push_back(one.text());
  add_short_notes(table, comparison, several);
  add_roofline_notes(table, comparison);
  add_warnings(table, comparison);
  add_column_notes(table, comparison);
  if (guesses)
    table.wide_notes.push_back(
        "accepted length: mean tokens of a pass that checks guesses: accepted guesses and the "
        "network's own token.");
  if (comparison.exact_matches)
    table.wide_notes.push_back(
        "EM: fields whose answer equals the baseline's token by token, if both ask field by field "
        "(IPPD, Table 2).");
  for (const DecoderEntry* entry : comparison.own)
    table.wide_notes.emplace_back(entry->own_columns.note);
  for (const ArmFinding& arm : comparison.arms)
    if (arm.departure) table.wide_notes.push_back(departure_note(arm, comparison.baseline_of(arm)));
  add_target_notes(table, comparison);
  const auto baseline_asks = [](const RunRow& run) {
    const std::string_view asks = find_decoder(run.decoder).baseline_asks;
    return asks.empty() ? run.options.value("ask", "together") : std::string(asks);
  };
  for (const ArmFinding& arm : comparison.arms)
    if (!arm.baseline && !arm.is_baseline && arm.run.run.baseline.value_or("").empty())
      table.notes.push_back(
          str(arm.run.run.dataset.name, " ", arm.run.run.label,
              arm.run.run.decoder == kPlainDecoder
                  ? std::string(": a baseline, with no arm to compare; run another decoder with it")
                  : str(": not compared, since no arm here is a baseline for it; run one with it, "
                        "e.g. ",
                        kPlainDecoder, " with ask=", baseline_asks(arm.run.run),
                        ", or name one with `baseline`"),
              "."));
  add_added_baseline_notes(table, comparison);
  add_uncomputed_notes(table, comparison);
  add_not_applicable_notes(table, comparison);
  add_origin_notes(table, comparison);
  return table;
}

}  // namespace pardec
