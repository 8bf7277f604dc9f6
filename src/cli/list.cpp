// `pardec list`: names for use on other command lines.
#include <iostream>
#include <memory>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/table_output.hpp"
#include "src/report/table.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/settings/run_settings.hpp"
#include "src/settings/training_settings.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

template <typename Names>
std::string joined(const Names& names) {
  return join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

/// A default value for people; empty text is shown as nothing.
std::string shown(const Json& fallback) {
  return fallback.is_string() ? fallback.get<std::string>() : dump(fallback);
}

/// Names for people; programs get the complete table of options.
Cell options_cell(const DecoderEntry& entry) {
  Json rows = Json::array();
  for (const Option& option : entry.options)
    rows.push_back({{"name", option.name},
                    {"type", option.type_name()},
                    {"default", option.fallback},
                    {"expected", option.expected()},
                    {"meaning", option.meaning}});
  return {joined(names_of(entry.options)), std::move(rows)};
}

Table decoder_table() {
  Table table;
  table.title = "Decoders";
  table.columns = {{"name"}, {"options"}, {"open prompts"}, {"source"}};
  for (const auto& entry : decoders())
    table.rows.push_back({std::string(entry.name), options_cell(entry),
                          entry.free_running ? "yes" : "no", std::string(entry.source)});
  table.notes = {
      str(service_decoder().name,
          ": no decoder, but an arm, for the verbs run and sweep, that an OpenAI-compatible server "
          "answers: --arm LABEL=",
          service_decoder().name, ",url=URL,model=NAME.")};
  return table;
}

Table option_table() {
  Table table;
  table.title = "Options";
  table.columns = {
      {.header = "decoder", .group = true}, {"option"}, {"default"}, {"expected"}, {"meaning"}};
  table.notes = {"for all arms of a decoder: --set DECODER.OPTION=VALUE, e.g. --set hpd.k_max=8."};
  std::vector<DecoderEntry> all = decoders();
  all.push_back(service_decoder());
  for (const auto& entry : all)
    for (const Option& option : entry.options) {
      const std::string expected = option.expected();
      table.rows.push_back({std::string(entry.name),
                            Cell(std::string(option.name), str(entry.name, ".", option.name)),
                            shown(option.fallback),
                            expected.empty() ? std::string(option.type_name()) : expected,
                            std::string(option.meaning)});
    }
  return table;
}

/// A dataset's metrics; those that need a judge are marked.
std::string metric_names(const DatasetEntry& entry) {
  std::vector<std::string> names;
  for (const auto name : entry.metrics)
    names.push_back(needs_judge(name) ? str(name, " (needs a judge)") : std::string(name));
  return join(names, ", ");
}

Table dataset_table() {
  Table table;
  table.title = "Datasets";
  table.columns = {{"name"}, {"folder under --data-root"}, {"splits"}, {"unit"}, {"metrics"}};
  table.notes = {"needs a judge: pardec judge asks one."};
  for (const auto& entry : datasets())
    table.rows.push_back({std::string(entry.name), joined(entry.folders), joined(entry.splits),
                          std::string(entry.unit), metric_names(entry)});
  return table;
}

}  // namespace

Verb list_verb() {
  struct Flags {
    std::string what, format = "text";
  };
  return {"list", "list decoders and datasets", "pardec list decoders",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            app.add_option("what", flags->what,
                           "decoders or datasets (default: both); experiment-schema: JSON schema "
                           "of a file for run -c; "
                           "training-schema: JSON schema of the settings of train");
            add_format(app, flags->format);
            return [flags] {
              const TableFormat format = parse_table_format(flags->format);
              if (flags->what == "experiment-schema" || flags->what == "training-schema") {
                const bool run = flags->what == "experiment-schema";
                std::cout << (run ? experiment_schema() : training_schema()).dump(2) << "\n";
                return 0;
              }
              if (!flags->what.empty() && flags->what != "decoders" && flags->what != "datasets")
                throw ConfigError(str(
                    "list: there is no list of '", flags->what, "'",
                    known_names(flags->what,
                                {"decoders", "datasets", "experiment-schema", "training-schema"})));
              TablePrinter printer(format);
              if (flags->what != "datasets") printer.print(decoder_table());
              // Programs get the options in the rows of the decoders.
              if (flags->what == "decoders" && is_for_people(format)) printer.print(option_table());
              if (flags->what != "decoders") printer.print(dataset_table());
              printer.finish();
              return 0;
            };
          }};
}

}  // namespace pardec
