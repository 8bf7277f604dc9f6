#include "src/report/measured_columns.hpp"

#include <cmath>

#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The noise of a speedup's measurement, for programs.
const std::vector<Column> kNoiseColumns = {
    {"disturbed", Align::right, "disturbed_measurements", true},
    {"repaired", Align::right, "repaired_measurements", true},
    {"undisturbed speedup", Align::right, "speedup_undisturbed", true},
    {"undisturbed interval", Align::left, "speedup_undisturbed_interval", true},
    {"speedup of repeats", Align::left, "speedup_of_repeats", true}};

void add_noise_cells(std::vector<Cell>& cells, const ArmFinding& arm) {
  if (!arm.speedup) {
    cells.insert(cells.end(), kNoiseColumns.size(), no_cell());
    return;
  }
  const Speedup& speedup = *arm.speedup;
  // Some systems cannot report disturbances; that is not the same as 0.
  const bool told = speedup.load_known > 0 || speedup.disturbed > 0;
  cells.push_back(told ? number_cell(speedup.disturbed) : no_cell());
  cells.push_back(told ? number_cell(speedup.repaired) : no_cell());
  const Interval none{std::nan(""), std::nan(""), std::nan("")};
  const Interval quiet = speedup.quiet.value_or(none);
  cells.push_back(std::isfinite(quiet.estimate) ? number_cell(quiet.estimate, 2) : no_cell());
  cells.push_back(interval_cell(quiet, 2));
  cells.push_back(speedup.of_repeats.empty()
                      ? no_cell()
                      : Cell(str(speedup.of_repeats.size(), " repeats"), Json(speedup.of_repeats)));
}

/// Common measures of speed.
std::vector<Column> speed_columns(bool roofline) {
  return {{"tokens/s", Align::right, "tokens_per_second"},
          {roofline ? "forwards/s (of roofline)" : "forwards/s", Align::right,
           "forwards_per_second", !roofline},
          {"of roofline", Align::right, "roofline_share", true},
          {"prompt tokens/s", Align::right, "prompt_tokens_per_second", true},
          {"latency p50", Align::right, "latency_p50_s"},
          {"latency p95", Align::right, "latency_p95_s", true},
          {"latency p99", Align::right, "latency_p99_s", true},
          {"first token p50", Align::right, "first_token_p50_s", true},
          {"first token p95", Align::right, "first_token_p95_s", true},
          {"first token p99", Align::right, "first_token_p99_s", true}};
}

Cell seconds_cell(double seconds) { return {seconds_text(seconds), json_of(seconds)}; }

void add_speed_cells(std::vector<Cell>& cells, const Speeds& speeds) {
  const auto add = [&](double value, int decimals) {
    cells.push_back(std::isfinite(value) ? number_cell(value, decimals) : no_cell());
  };
  add(speeds.tokens_per_second, 1);
  const double forwards = speeds.forwards_per_second, share = speeds.roofline_share;
  cells.push_back(!std::isfinite(forwards)
                      ? no_cell()
                      : Cell(fixed(forwards, 1) +
                                 (std::isfinite(share) ? str(" (", percent(share, 0), ")") : ""),
                             Json(forwards)));
  cells.push_back(std::isfinite(share) ? Cell(percent(share, 0), Json(share)) : no_cell());
  add(speeds.prompt_tokens_per_second, 1);
  for (const auto& times : {speeds.latency, speeds.first_token}) {
    if (!times) {
      cells.insert(cells.end(), 3, no_cell());
      continue;
    }
    for (const double seconds : {times->p50, times->p95, times->p99})
      cells.push_back(seconds_cell(seconds));
  }
}

/// How the answers ended, for programs.
const std::vector<Column> kStateColumns = {
    {"repeats", Align::right, "repeats", true},
    {"unparsed", Align::right, "unparsed", true},
    {"empty", Align::right, "empty", true},
    {"hit limit", Align::right, "hit_limit", true},
    {"broken", Align::right, "broken", true},
    {"tokens/answer", Align::right, "tokens_per_answer", true}};

/// For answers with thoughts.
const std::vector<Column> kThoughtColumns = {
    {.header = "thought tokens", .align = Align::right, .key = "thought_tokens", .wide = true},
    {.header = "after thought", .align = Align::right, .key = "answer_tokens", .wide = true}};

bool has_thought(const Comparison& comparison) {
  return std::any_of(comparison.arms.begin(), comparison.arms.end(),
                     [](const ArmFinding& arm) { return arm.state.thought > 0; });
}

void add_state_cells(std::vector<Cell>& cells, const ArmFinding& arm) {
  const AnswerState& state = arm.state;
  cells.push_back(number_cell(std::int64_t{arm.run.run.repeats}));
  for (const std::int64_t count : {state.unparsed, state.empty, state.hit_limit, state.broken})
    cells.push_back(number_cell(count));
  cells.push_back(std::isfinite(state.tokens) ? number_cell(state.tokens, 1) : no_cell());
}

}  // namespace

Json ends_of(const Interval& interval) {
  return Json{json_of(interval.low), json_of(interval.high)};
}

Cell interval_cell(const Interval& interval, int decimals, const std::string& more) {
  if (!std::isfinite(interval.low)) return no_cell();
  return {str("[", fixed(interval.low, decimals), ", ", fixed(interval.high, decimals), "]", more),
          ends_of(interval)};
}

Cell ratio_interval_cell(const Interval& ratio) {
  return interval_cell(ratio, 2, ratio.low <= 1 && ratio.high >= 1 ? " contains 1" : "");
}

std::string difference_text(const Interval& difference) {
  const auto sign = [](double value) { return (value >= 0 ? "+" : "") + fixed(value, 3); };
  return sign(difference.estimate) +
         (std::isfinite(difference.low)
              ? str(" [", sign(difference.low), ", ", sign(difference.high), "]")
              : "");
}

std::vector<Column> measured_columns(const Comparison& comparison) {
  std::vector<Column> all = speed_columns(!comparison.hardware.empty());
  for (const auto* columns : {&kNoiseColumns, &kStateColumns})
    all.insert(all.end(), columns->begin(), columns->end());
  if (has_thought(comparison))
    all.insert(all.end(), kThoughtColumns.begin(), kThoughtColumns.end());
  return all;
}

void add_measured_cells(std::vector<Cell>& cells, const Comparison& comparison,
                        const ArmFinding& arm) {
  add_speed_cells(cells, comparison.details_of(arm).speeds);
  add_noise_cells(cells, arm);
  add_state_cells(cells, arm);
  if (!has_thought(comparison)) return;
  const AnswerState& state = arm.state;
  const bool known = std::isfinite(state.tokens);
  cells.push_back(known ? number_cell(state.thought, 1) : no_cell());
  cells.push_back(known ? number_cell(state.tokens - state.thought, 1) : no_cell());
}

}  // namespace pardec
