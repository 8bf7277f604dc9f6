// Settings for programs that print a comparison.
#include <algorithm>
#include <array>

#include "decoders/decoder.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/settings/shared_settings.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Columns of comparisons, independent of decoders and metrics.
constexpr std::array kColumns{"dataset",
                              "dataset_is_sample",
                              "dataset_is_standin",
                              "arm",
                              "model",
                              "baseline",
                              "speedup",
                              "speedup_interval",
                              "score_difference",
                              "verdict",
                              "score",
                              "score_name",
                              "tokens_per_forward",
                              "experts_read_per_pass",
                              "stack",
                              "in_flight",
                              "streams",
                              "n",
                              "failed",
                              "examples_per_second",
                              "blocks",
                              "identical",
                              "same_choices",
                              "accept_length",
                              "em",
                              "tokens_per_second",
                              "forwards_per_second",
                              "roofline_share",
                              "prompt_tokens_per_second",
                              "latency_p50_s",
                              "latency_p95_s",
                              "latency_p99_s",
                              "first_token_p50_s",
                              "first_token_p95_s",
                              "first_token_p99_s",
                              "disturbed_measurements",
                              "repaired_measurements",
                              "speedup_undisturbed",
                              "speedup_undisturbed_interval",
                              "speedup_of_repeats",
                              "repeats",
                              "unparsed",
                              "empty",
                              "hit_limit",
                              "broken",
                              "tokens_per_answer",
                              "thought_tokens",
                              "answer_tokens",
                              "cannot_run"};

/// Suffixes of column keys after the key of a metric.
constexpr std::array kOfMetrics{"",    "_interval", "_difference", "_judge", "_scored",
                                "_of", "_refused",  "_unscored",   "_errors"};

}  // namespace

std::vector<std::string> known_columns() {
  std::vector<std::string> names(kColumns.begin(), kColumns.end());
  for (const DecoderEntry& entry : decoders())
    for (const OwnColumn& column : entry.own_columns.columns) names.emplace_back(column.key);
  for (const TaskMetric& metric : task_metrics())
    for (const std::string_view total : metric.totals)
      for (const char* end : kOfMetrics) names.push_back(str(total, end));
  return names;
}

Setting format_setting(std::string& format) {
  return {"format", "FORMAT", &format, str("format of the table: ", kTableFormats)};
}

Settings columns_settings(ColumnChoice& columns) {
  return {{"wide", "", &columns.wide, "show all columns (`format` json and csv always have all)"},
          {"columns",
           "A,B",
           &columns.names,
           str("only these columns, in any format, by their keys in json: ",
               join({kColumns.begin(), kColumns.end()}, ", "),
               "; the scores (f1_micro, f1_micro_difference, ...) and the decoders' own"),
           {.commas = true}}};
}

Setting hardware_setting(std::vector<std::string>& hardware) {
  return {
      "hardware",
      "NAME,...",
      &hardware,
      "show how close each arm is to the limit of the hardware (roofline): here (measured now), "
      "a100, a800, h100, h200, h800, l40s, a800x8 (eight, tensor parallel) ..., or a file like "
      "experiments/hardware/*.json; several with `trace`, for the speedup that each machine allows",
      {.commas = true}};
}

Setting strict_setting(bool& strict) {
  return {"strict", "", &strict, "exit with 3 if the table has a warning"};
}

void check_columns(const ColumnChoice& columns) {
  if (columns.wide && !columns.names.empty())
    throw ConfigError("`wide` shows all columns, and `columns` names some; leave one out");
  const std::vector<std::string> known = known_columns();
  for (const std::string& name : columns.names)
    if (!name.starts_with("speedup_at_most_") &&
        std::find(known.begin(), known.end(), name) == known.end()) {
      const auto near = near_names(name, known);
      throw ConfigError(str("`columns`: there is no column '", name, "'",
                            near.empty() ? "; `help` lists them" : known_names(name, known)));
    }
}

}  // namespace pardec
