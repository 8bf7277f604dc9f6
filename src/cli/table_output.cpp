#include "src/cli/table_output.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>

#include "decoders/decoder.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/support/error.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Columns that a comparison may have whatever its decoders and metrics are.
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

/// What follows the key of a metric in the key of a column.
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

CLI::Option* add_format(CLI::App& app, std::string& format) {
  return app.add_option("--format", format, str("of the table: ", kTableFormats))
      ->capture_default_str()
      ->type_name("FORMAT");
}

void add_columns(CLI::App& app, ColumnChoice& columns) {
  app.add_flag("--wide", columns.wide,
               "the table with all columns for people; programs get them all (--format json, csv)");
  std::string names;
  for (const char* name : kColumns) names += str(names.empty() ? "" : ", ", name);
  app.add_option("--columns", columns.names,
                 str("these columns alone, in any format, by their keys in json: ", names,
                     "; the scores (f1_micro, f1_micro_difference, ...) and the decoders' own"))
      ->delimiter(',')
      ->type_name("A,B");
}

void check_columns(const ColumnChoice& columns) {
  if (columns.wide && !columns.names.empty())
    throw ConfigError("--wide shows all columns, and --columns names some; leave one out");
  const std::vector<std::string> known = known_columns();
  for (const std::string& name : columns.names)
    if (!name.starts_with("speedup_at_most_") &&
        std::find(known.begin(), known.end(), name) == known.end()) {
      const auto near = near_names(name, known);
      throw ConfigError(str("--columns: there is no column '", name, "'",
                            near.empty() ? "; --help lists them" : known_names(name, known)));
    }
}

bool is_for_people(TableFormat format) {
  return format == TableFormat::text || format == TableFormat::md;
}

void TablePrinter::print(const Table& table) {
  if (format_ == TableFormat::json) {
    all_.push_back(OrderedJson::parse(render(table, format_)));
    return;
  }
  if (!first_ && is_for_people(format_)) std::cout << "\n";
  print_table(table, format_);
  std::cout << std::flush;
  first_ = false;
}

void TablePrinter::finish() {
  if (format_ != TableFormat::json || (all_.empty() && !list_)) return;
  std::cout << (all_.size() == 1 && !list_ ? dump(all_.front()) : all_.dump(2)) << "\n";
}

void print_table(const Table& table, TableFormat format) {
  const bool colour = format == TableFormat::text && may_colour(STDOUT_FILENO);
  const std::string text =
      render(table, format, {std::max(20, terminal_size(STDOUT_FILENO).columns), colour});
  std::cout.flush();
  // The escape codes of colours are none of a cell's: those are shown as visible_text has them.
  if (colour)
    std::fwrite(text.data(), 1, text.size(), stdout);
  else
    std::cout << text;
}

}  // namespace pardec
