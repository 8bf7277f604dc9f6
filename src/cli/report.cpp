// `pardec report`: one invocation as a page that needs nothing but a browser.
#include "src/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>

#include "datasets/dataset.hpp"
#include "metrics/attribute_f1.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/comparison.hpp"
#include "src/cli/figures.hpp"
#include "src/cli/record.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct ReportFlags : ComparisonFlags {
  std::string output = "report.html";
  int examples = 4;
  std::uint64_t seed = 1;
};

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

template <typename Name>
std::vector<std::string> distinct(const std::vector<RunSummary>& runs, const Name& name) {
  std::vector<std::string> out;
  for (const auto& run : runs)
    if (const std::string one = name(run.run); std::find(out.begin(), out.end(), one) == out.end())
      out.push_back(one);
  return out;
}

std::string text_at(const Table& table, std::size_t row, const std::string& key) {
  for (std::size_t c = 0; c < table.columns.size() && c < table.rows[row].size(); ++c)
    if ((table.columns[c].key.empty() ? table.columns[c].header : table.columns[c].key) == key)
      return table.rows[row][c].text;
  return "";
}

// What stands at the top -------------------------------------------------------

std::vector<std::string> marks_of(const std::vector<RunSummary>& runs) {
  const RunRow& first = runs.front().run;
  std::vector<std::string> marks;
  if (std::string note = untrained_note(runs); !note.empty()) {
    note.front() = 'U';
    marks.push_back(note + " Only speed is to be read there.");
  }
  if (first.oracle)
    marks.push_back(str("Oracle (", *first.oracle,
                        first.oracle->starts_with("accept:")
                            ? "): drafted tokens were accepted at this rate, whatever the network "
                              "said. Speed is that of such drafts; "
                            : "): the tokens were forced. Speed is that of right answers; ",
                        "nothing here says how good the decoders' own answers are."));
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
    if (is_standin(run.run.dataset) &&
        std::find(standins.begin(), standins.end(), run.run.dataset.name) == standins.end())
      standins.push_back(run.run.dataset.name);
  if (!standins.empty())
    marks.push_back(str("Stand-in: ", join(standins, ", "), standins.size() > 1 ? " are" : " is",
                        " generated words of the published lengths; speed alone can be read from "
                        "it."));
  std::int64_t failed = 0, open = 0;
  for (const auto& run : runs) {
    failed += run.failed_generations;
    open += run.run.status != RunStatus::done;
  }
  if (failed > 0)
    marks.push_back(str(failed, failed == 1 ? " answer" : " answers",
                        " failed; the tables count what failed, and scores are of the rest."));
  if (open > 0) marks.push_back(str(open, " of ", runs.size(), " runs did not come to their end."));
  if (first.build_type != "Release")
    marks.push_back(str("Measured with a ", first.build_type, " build."));
  return marks;
}

std::vector<Highlight> highlights_of(const std::vector<RunSummary>& runs, const Table& table,
                                     const std::string& baseline_label) {
  std::vector<Highlight> out;
  for (std::size_t r = 0; r < runs.size() && out.size() < 6; ++r) {
    const RunSummary* baseline = find_baseline(runs, runs[r], baseline_label);
    const double speedup = value_at(table, r, "speedup");
    if (!baseline || !std::isfinite(speedup)) continue;
    Highlight highlight;
    highlight.label =
        str(runs[r].run.dataset.name, ": ", runs[r].run.label, " against ", baseline->run.label);
    highlight.value = text_at(table, r, "speedup") + "×";
    if (const std::string range = text_at(table, r, "speedup_interval"); range != no_cell().text)
      highlight.range = range;
    const std::size_t b = static_cast<std::size_t>(baseline - runs.data());
    const std::string unit(find_dataset(runs[r].run.dataset.name).unit);
    highlight.beside.push_back(str(text_at(table, r, "examples_per_second"), " against ",
                                   text_at(table, b, "examples_per_second"), " ", unit, "/s"));
    for (const char* key : {"identical", "same_choices"})
      if (std::isfinite(value_at(table, r, key)))
        highlight.beside.push_back(str(text_at(table, r, key), std::string(key) == "identical"
                                                                   ? " identical answers"
                                                                   : " same choices"));
    if (!runs[r].run.untrained && std::isfinite(value_at(table, r, "f1_micro")))
      highlight.beside.push_back(
          str("F1 ", text_at(table, r, "f1_micro"), " against ", text_at(table, b, "f1_micro")));
    out.push_back(std::move(highlight));
  }
  return out;
}

// Examples ----------------------------------------------------------------------

using Generations = std::map<std::string, StoredGeneration>;

/// The first repeat of each sample.
Generations first_answers(Store& store, RowId run) {
  Generations out;
  for (auto& generation : store.generations(run))
    if (generation.repeat == 0) out.emplace(generation.row.sample, std::move(generation));
  return out;
}

bool absent(const std::string& text) { return text.empty() || text == "n/a" || text == "None"; }

const FieldAnswer* answer_to(const StoredGeneration& generation, const std::string& field) {
  for (const auto& answer : generation.row.fields)
    if (answer.name == field) return &answer;
  return nullptr;
}

/// `judged`: values may be held against the annotation (never under an oracle).
ReportField report_field(const SampleRow& sample, const Json& field,
                         const std::vector<const StoredGeneration*>& arms, bool judged) {
  ReportField out;
  out.name = field.at("name").get<std::string>();
  out.annotated = field.value("annotated", true);
  for (const auto& reference : field.value("references", std::vector<std::string>()))
    if (!absent(reference)) out.gold.push_back(reference);
  for (const StoredGeneration* arm : arms) {
    if (arm->row.error) {
      out.answers.push_back({.failed = true});
      continue;
    }
    const FieldAnswer* answer = answer_to(*arm, out.name);
    const std::string text = answer ? answer->text : "";
    ReportAnswer shown{absent(text) ? "" : text};
    if (!out.answers.empty()) {
      const FieldAnswer* first = answer_to(*arms.front(), out.name);
      shown.differs = (first ? first->text : "") != text;
    }
    if (judged && out.annotated && !(shown.text.empty() && out.gold.empty())) {
      const AttributeCounts one =
          count(AttributePrediction{sample.category, out.name, true, out.gold,
                                    text.empty() ? std::nullopt : std::optional(text)});
      shown.correctness = one.vc || one.nn ? Correctness::right : Correctness::wrong;
    }
    out.answers.push_back(std::move(shown));
  }
  return out;
}

ReportExample report_example(const SampleRow& sample, const StoredGeneration& baseline,
                             const StoredGeneration& method, bool judged) {
  ReportExample out;
  out.key = sample.key;
  out.category = sample.category;
  out.text = sample.text;
  const auto& error = method.row.error ? method.row.error : baseline.row.error;
  if (error) {
    out.kind = ExampleKind::failed;
    out.note = "Failed: " + *error;
  }
  Json fields = sample.fields;
  if (fields.empty())  // a database that holds no references
    for (const auto& answer : method.row.fields)
      fields.push_back({{"name", answer.name}, {"annotated", false}});
  for (const auto& field : fields)
    out.fields.push_back(report_field(sample, field, {&baseline, &method}, judged));
  if (error) return out;
  const bool differs = std::any_of(out.fields.begin(), out.fields.end(),
                                   [](const auto& field) { return field.answers.back().differs; });
  out.kind = differs ? ExampleKind::differing : ExampleKind::identical;
  if (const auto& identity = method.row.identity; differs && identity && identity->gap)
    out.note = str("First differing token: number ", identity->first_difference.value_or(0) + 1,
                   " of the values; the network's two best choices there lay ",
                   number_cell(*identity->gap, 3).text, " logits apart.");
  return out;
}

/// A seeded draw of identical, differing and failed answers of one arm beside its baseline's:
/// twice `count` differing ones, `count` of the others, in the dataset's order.
ExampleGroup example_group(Store& store, const RunSummary& baseline, const RunSummary& method,
                           int count, std::uint64_t seed) {
  const bool judged = !method.run.oracle;
  const Generations theirs = first_answers(store, baseline.run.id),
                    ours = first_answers(store, method.run.id);
  std::map<ExampleKind, std::vector<ReportExample>> found;
  for (const auto& sample : store.samples(store.dataset_of(method.run.id))) {
    const auto their = theirs.find(sample.key), our = ours.find(sample.key);
    if (their == theirs.end() || our == ours.end()) continue;
    ReportExample example = report_example(sample, their->second, our->second, judged);
    found[example.kind].push_back(std::move(example));
  }
  ExampleGroup group;
  group.heading =
      str(method.run.dataset.name, ": ", method.run.label, " beside ", baseline.run.label);
  group.arms = {baseline.run.label, method.run.label};
  std::vector<std::string> parts;
  for (const auto kind : {ExampleKind::failed, ExampleKind::differing, ExampleKind::identical}) {
    auto& examples = found[kind];
    const auto most = static_cast<std::size_t>(kind == ExampleKind::differing ? 2 * count : count);
    std::vector<std::size_t> order(examples.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    Rng rng(derive_seed(seed, group.heading));
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    const std::size_t shown = std::min(most, order.size());
    std::sort(order.begin(), order.begin() + static_cast<long>(shown));
    for (std::size_t i = 0; i < shown; ++i) group.examples.push_back(std::move(examples[order[i]]));
    const char* name = kind == ExampleKind::failed      ? "failed"
                       : kind == ExampleKind::differing ? "differing"
                                                        : "identical";
    if (!examples.empty() || kind != ExampleKind::failed)
      parts.push_back(examples.empty() ? str("none ", name)
                                       : str(shown, " of ", examples.size(), " ", name));
  }
  group.note = str("Drawn with seed ", seed, ": ", join(parts, ", "), ".");
  if (method.run.oracle == "references")
    group.note += " The answers were forced, so they are the gold values.";
  return group;
}

// How it was measured -------------------------------------------------------------

std::string duration(const std::string& begin, const std::optional<std::string>& end) {
  return end ? begin + " to " + *end : begin + ", not ended";
}

/// One argument as a shell would need it.
std::string shell_word(const std::string& argument) {
  const bool plain =
      !argument.empty() && argument.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./=,:+@%") == std::string::npos;
  return plain ? argument : "'" + replace_all(argument, "'", "'\\''") + "'";
}

std::string json_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump(value);
}

std::vector<FactGroup> facts_of(const std::vector<RunSummary>& runs) {
  const RunRow& first = runs.front().run;
  FactGroup run{"Run", {}}, order{"Order and blocks", {}}, machine{"Machine", {}},
      network{"Network and data", {}};
  std::vector<std::string> words;
  for (const auto& argument : first.argv) words.push_back(shell_word(argument));
  run.facts = {{"invocation", first.invocation},
               {"command", words.empty() ? "not recorded" : join(words, " ")},
               {"commit", first.commit},
               {"build", first.build_type},
               {"seed", std::to_string(first.seed)},
               {"time (UTC)", duration(first.started_utc, first.ended_utc)}};
  for (const char* key : {"temperature", "top_k", "top_p", "max_new_tokens", "per_field", "shots",
                          "limit", "offset", "ignore_eos", "chat_template"})
    if (first.config.contains(key)) run.facts.push_back({key, json_text(first.config[key])});

  std::vector<std::string> batch, blocks;
  for (const auto& one : runs) {
    batch.push_back(str(one.run.dataset.name, " ", one.run.label, " ", shown_in_flight(one)));
    blocks.push_back(
        str(one.run.dataset.name, " ", one.run.label, " ", one.measured_blocks, "/", one.blocks));
  }
  order.facts = {{"order", first.order == "interleaved"
                               ? "interleaved: the arms take turns block by block, there and back"
                               : first.order},
                 {"repeats", std::to_string(first.repeats)},
                 {"in flight", join(batch, ", ") + " jobs"},
                 {"measured", join(blocks, ", ") + " blocks measured whole in one process"},
                 {"time", "monotonic; storing and preparing prompts lie outside a block's time"}};
  if (!first.shard.empty()) order.facts.push_back({"shard", first.shard});

  machine.facts = {{"device", first.device},
                   {"computed in", first.dtype},
                   {"threads", std::to_string(first.threads)}};
  for (const auto& [key, value] : first.environment.items())
    if (const std::string text = json_text(value); !text.empty())
      machine.facts.push_back({key, text});

  network.facts = {{"network", file_name(first.model.path)}, {"hash", first.model.hash}};
  for (const auto& [key, value] : first.model.shape.items())
    network.facts.push_back({replace_all(key, "_", " "), value.is_number_integer()
                                                             ? grouped(value.get<std::int64_t>())
                                                             : json_text(value)});
  for (const auto& one : distinct(runs, [](const RunRow& row) {
         return str(row.dataset.name, " ", row.dataset.split, ": ", row.dataset.sha256);
       }))
    network.facts.push_back({"data", one});
  for (const auto& one : distinct(runs, [](const RunRow& row) { return row.prompt_hash; }))
    network.facts.push_back({"prompt", one});
  for (const auto& one : distinct(runs, [](const RunRow& row) {
         return str(row.label, ": ", row.decoder, " ", dump(row.options));
       }))
    network.facts.push_back({"arm", one});
  return {run, order, machine, network};
}

// The page --------------------------------------------------------------------------

void add_figures(Report& report, Store& store, const std::vector<RunSummary>& runs,
                 const Table& comparison, double confidence) {
  if (!can_draw()) {
    report.without_figures =
        "Figures are left out: gnuplot was missing where this report was made (apt-get install "
        "gnuplot-nox). The tables hold the same numbers.";
    std::fprintf(stderr, "pardec: %s\n", report.without_figures.c_str());
    return;
  }
  for (const auto& named : comparison_figures(store, runs, comparison, confidence))
    report.figures.push_back(
        {named.heading, named.caption,
         inline_svg(draw(named.figure, FigureFormat::svg), str("f", report.figures.size(), "-"),
                    named.heading + ". " + named.caption)});
}

Report make_report(Store& store, const ReportFlags& flags) {
  const std::string invocation = find_invocation(store, flags.run);
  const auto runs = runs_of(store, invocation);
  const RunRow& first = runs.front().run;
  Report report;
  report.title =
      str(join(distinct(runs, [](const RunRow& row) { return row.label; }), ", "), " on ",
          join(distinct(runs, [](const RunRow& row) { return row.dataset.name; }), ", "));
  report.subtitle = str(
      file_name(first.model.path),
      first.model.shape.contains("parameters")
          ? str(" (", grouped(first.model.shape["parameters"].get<std::int64_t>()), " parameters)")
          : "",
      ", ", first.dtype, ", ", first.device, ", ", first.threads,
      first.threads == 1 ? " thread, " : " threads, ", first.started_utc.substr(0, 10));
  report.marks = marks_of(runs);
  const Table comparison = compare_runs(store, invocation, flags.baseline, flags.confidence);
  report.highlights = highlights_of(runs, comparison, flags.baseline);
  report.tables.push_back({"comparison", "Comparison", comparison});
  report.tables.push_back(
      {"accounting", "Tokens and time", accounting_table(store, invocation, std::nullopt)});
  if (Table differences = differences_table(store, invocation, 20); !differences.rows.empty())
    report.tables.push_back(
        {"differences", "Where answers depart from the baseline's", std::move(differences)});
  add_figures(report, store, runs, comparison, flags.confidence);
  for (const auto& method : runs)
    if (const RunSummary* baseline = find_baseline(runs, method, flags.baseline);
        baseline && flags.examples > 0)
      report.examples.push_back(
          example_group(store, *baseline, method, flags.examples, flags.seed));
  report.facts = facts_of(runs);
  return report;
}

}  // namespace

Verb report_verb() {
  return {"report", "one run as a self-contained HTML page",
          "pardec report --db r.sqlite -o report.html\n  pardec report --db r.sqlite --run 3f2a "
          "--examples 10",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<ReportFlags>();
            flags->add_to(app);
            app.add_option("--examples", flags->examples,
                           "identical and failed answers shown of each arm, and half of the "
                           "differing ones; 0: none")
                ->capture_default_str()
                ->type_name("N");
            app.add_option("--seed", flags->seed, "of the draw of examples")
                ->capture_default_str()
                ->type_name("N");
            app.add_option("-o,--output", flags->output, "the page")
                ->capture_default_str()
                ->type_name("FILE");
            return [flags] {
              check_confidence(flags->confidence);
              if (flags->examples < 0)
                throw ConfigError(str("--examples is ", flags->examples, ", expected 0 or more"));
              check_apart("--output", flags->output, flags->db);
              const auto store = open_to_compare(flags->db, flags->run);
              write_file(flags->output, render_report(make_report(*store, *flags)));
              std::cout << flags->output << "\n";
              return 0;
            };
          }};
}

}  // namespace pardec
