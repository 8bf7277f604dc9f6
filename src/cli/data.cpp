// `pardec data`: what the datasets hold.
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include "metrics/attention_model.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/project_files.hpp"
#include "src/cli/workload.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/prompt/pieces.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct DataFlags {
  std::string action, data_root, split, tokenizer, format = "md";
  bool attention = false;
  int contexts = 1;
  std::vector<std::string> datasets;
};

/// A mean that is built up.
struct Mean {
  double sum = 0, count = 0;
  void add(double value) { sum += value, ++count; }
  double value() const { return count > 0 ? sum / count : std::nan(""); }
};

/// The datasets that flags name; without a name all that the data root has.
std::vector<const DatasetEntry*> chosen_datasets(const DataFlags& flags) {
  std::vector<const DatasetEntry*> chosen;
  for (const auto& name : flags.datasets) chosen.push_back(&find_dataset(name));
  if (chosen.empty())
    for (const auto& entry : datasets())
      if (flags.data_root.empty() || dataset_folder(entry, flags.data_root))
        chosen.push_back(&entry);
  if (chosen.empty())
    throw ConfigError(str("--data-root ", flags.data_root,
                          " has no folder of a dataset; 'pardec list datasets' names them"));
  return chosen;
}

/// The splits of a dataset whose files are there; the first error where none are.
std::vector<Dataset> load_splits(const DatasetEntry& entry, const DataFlags& flags,
                                 std::vector<Inspection>* inspections = nullptr) {
  std::vector<std::string> splits(entry.splits.begin(), entry.splits.end());
  if (!flags.split.empty()) splits = {flags.split};
  std::vector<Dataset> loaded;
  std::optional<ConfigError> first;
  for (const auto& split : splits) try {
      Inspection inspection;
      loaded.push_back(load_dataset(
          entry,
          flags.data_root.empty() ? std::nullopt
                                  : std::optional<std::filesystem::path>(flags.data_root),
          split, project_file("datasets/samples"), inspections ? &inspection : nullptr));
      if (inspections) inspections->push_back(std::move(inspection));
    } catch (const ConfigError& error) {
      if (!first) first = error;
    }
  if (loaded.empty()) throw *first;
  return loaded;
}

std::string shown_name(const Dataset& dataset) {
  return dataset.name + (dataset.sample ? " (own sample)" : "");
}

struct SplitStats {
  std::int64_t examples = 0, all_fields = 0, unanswerable = 0, categories = 0;
  double attributes_per_category = std::nan("");
  Mean fields, present, text, prompt, question, answer, value;
};

/// Attributes that the annotators used in this split, mean over its categories.
void count_attributes(const Dataset& dataset, SplitStats& stats) {
  std::map<std::string, std::set<std::string>> attributes;
  for (const auto& example : dataset.examples) {
    auto& of_category = attributes[example.category];
    for (const auto& field : example.fields)
      if (field.annotated) of_category.insert(field.name);
  }
  stats.categories = static_cast<std::int64_t>(attributes.size());
  if (dataset.shape != Shape::attributes) return;
  Mean mean;
  for (const auto& [category, names] : attributes) mean.add(static_cast<double>(names.size()));
  stats.attributes_per_category = mean.value();
}

void add(Mean& mean, std::size_t size) { mean.add(static_cast<double>(size)); }

/// Lengths of one example's prompt and reference answer in the form that extraction decoders use.
void count_json_tokens(const Example& example, const PromptFile& prompt, const Tokenizer& tokenizer,
                       SplitStats& stats) {
  const Job job = make_job(example.id, {&example}, Form::json, prompt, DecodeFlags{});
  const Pieces pieces =
      make_pieces(job, Form::json, prompt, find_chat_template("plain"), tokenizer);
  add(stats.prompt, pieces.whole_prompt().size());
  std::size_t answer = 0;
  for (const auto& segment : pieces.segments) answer += segment.size();
  const auto references = references_of({&example}).front();
  for (std::size_t f = 0; f < references.size(); ++f) {
    const std::size_t size =
        tokenizer.encode_piece(json_value(references[f], f + 1 == references.size()), false).size();
    answer += size;
    if (references[f]) add(stats.value, size);
  }
  add(stats.answer, answer);
}

/// Lengths of the prompts and reference answers of an example whose fields are asked one by one.
void count_field_tokens(const Example& example, Form form, const PromptFile& prompt,
                        const Tokenizer& tokenizer, SplitStats& stats) {
  const Job job = make_job(example.id, {&example}, form, prompt, DecodeFlags{});
  const Pieces pieces = make_pieces(job, form, prompt, find_chat_template("plain"), tokenizer);
  const auto references = references_of({&example}).front();
  for (std::size_t f = 0; f < references.size(); ++f) {
    if (!example.conversation || f == 0) add(stats.prompt, pieces.field_prompt(0, f).size());
    add(stats.question, pieces.fields[0][f].size());
    if (!example.fields[f].annotated) continue;
    add(stats.answer, tokenizer.encode_piece(" " + references[f].value_or("null"), false).size());
  }
}

SplitStats stats_of(const Dataset& dataset, const PromptFile& prompt, const Tokenizer& tokenizer) {
  SplitStats stats;
  stats.examples = std::ssize(dataset.examples);
  count_attributes(dataset, stats);
  for (const auto& example : dataset.examples) {
    double present = 0;
    for (const auto& field : example.fields) {
      present += !field.references.empty();
      stats.unanswerable += field.annotated && field.references.empty();
    }
    stats.all_fields += std::ssize(example.fields);
    add(stats.fields, example.fields.size());
    stats.present.add(present);
    add(stats.text, tokenizer.encode(example.text, false).size());
    if (dataset.shape == Shape::attributes)
      count_json_tokens(example, prompt, tokenizer, stats);
    else
      count_field_tokens(example, dataset.shape == Shape::open ? Form::free : Form::value, prompt,
                         tokenizer, stats);
  }
  return stats;
}

/// The published rows of a paper's table by dataset.
std::map<std::string, Json> published_rows(const std::string& table) {
  const Json file = read_json(project_file("experiments/papers/" + table));
  std::map<std::string, Json> rows;
  for (const auto& row : file.at("published").at("rows"))
    rows[row.at("dataset").get<std::string>()] = row;
  return rows;
}

Tokenizer tokenizer_of(const DataFlags& flags) {
  if (flags.tokenizer.empty())
    return Tokenizer::load(project_file("experiments/quickstart/tokenizer.json"));
  const std::filesystem::path path = flags.tokenizer;
  return Tokenizer::load(std::filesystem::is_directory(path) ? path / "tokenizer.json" : path);
}

int stats(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  const Tokenizer tokenizer = tokenizer_of(flags);
  const auto hpd = published_rows("hpd/table2.json"), ippd = published_rows("ippd/table1.json");
  Table table;
  table.title = "Datasets";
  table.columns = {{"dataset"},
                   {"split"},
                   {"examples", Align::right},
                   {"paper: examples", Align::right, "examples_published"},
                   {"fields", Align::right, "fields"},
                   {"absent", Align::right, "absent"},
                   {"categories", Align::right},
                   {"attributes/category", Align::right, "attributes_per_category"},
                   {"paper: attributes", Align::right, "attributes_per_category_published"},
                   {"parallelism", Align::right},
                   {"paper: parallelism", Align::right, "parallelism_published"},
                   {"present", Align::right},
                   {"text", Align::right, "text_tokens"},
                   {"paper: text", Align::right, "text_tokens_published"},
                   {"question", Align::right, "question_tokens"},
                   {"paper: question", Align::right, "question_tokens_published"},
                   {"prompt", Align::right, "prompt_tokens"},
                   {"answer", Align::right, "answer_tokens"},
                   {"paper: answer", Align::right, "answer_tokens_published"},
                   {"value", Align::right, "value_tokens"}};
  bool samples = false;
  for (const DatasetEntry* entry : chosen_datasets(flags))
    for (const Dataset& dataset : load_splits(*entry, flags)) {
      samples = samples || dataset.sample;
      const SplitStats stats =
          stats_of(dataset, load_prompt(std::string(prompt_name(*entry, dataset))), tokenizer);
      // HPD's table has all splits, IPPD's the one that is evaluated.
      const auto paper = [&](const std::map<std::string, Json>& rows, const std::string& key,
                             int decimals) {
        const auto row = rows.find(dataset.name);
        if (row == rows.end() || !row->second.contains(key)) return Cell("-", Json());
        if (&rows == &ippd && dataset.split != entry->splits.front()) return Cell("-", Json());
        const Json& value = row->second[key];
        return decimals ? number_cell(value.get<double>(), decimals)
                        : number_cell(value.get<std::int64_t>());
      };
      const bool in_hpd = hpd.contains(dataset.name);
      const auto mean = [](const Mean& of) { return number_cell(of.value(), 2); };
      table.rows.push_back({shown_name(dataset),
                            dataset.split,
                            number_cell(stats.examples),
                            in_hpd ? paper(hpd, dataset.split, 0) : paper(ippd, "contexts", 0),
                            number_cell(stats.all_fields),
                            number_cell(stats.unanswerable),
                            number_cell(stats.categories),
                            number_cell(stats.attributes_per_category, 2),
                            paper(hpd, "attributes_per_category", 2),
                            mean(stats.fields),
                            paper(ippd, "parallelism", 2),
                            mean(stats.present),
                            mean(stats.text),
                            paper(ippd, "context", 2),
                            mean(stats.question),
                            paper(ippd, "question", 2),
                            mean(stats.prompt),
                            mean(stats.answer),
                            paper(ippd, "answer", 2),
                            mean(stats.value)});
    }
  table.notes = {
      "paper: Table 2 of the HPD paper, which gives one number of attributes a dataset, and Table "
      "1 "
      "of the IPPD paper, whose tokens are those of its own tokenizer.",
      "fields: asked of all examples; absent: those whose right answer is that there is none; "
      "parallelism: fields of an example (an attribute dataset: those that the train file lists "
      "for "
      "its category); present: those with a reference.",
      "attributes/category: annotated in the split, mean over its categories.",
      str("text, question, prompt, answer, value: mean ids under ",
          flags.tokenizer.empty() ? "the quickstart tokenizer" : flags.tokenizer,
          "; answer: of attributes the JSON object with the reference values, else one field's "
          "reference; value: one that is there, with its quotes and comma.")};
  if (samples)
    table.notes.push_back("own sample: the project's small sample, not the publisher's data.");
  std::cout << render(table, format);
  return 0;
}

/// Which datasets are there, and where.
int list_data(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  const std::filesystem::path root = flags.data_root.empty()
                                         ? project_file("datasets/samples")
                                         : std::filesystem::path(flags.data_root);
  if (std::error_code ignored; !std::filesystem::is_directory(root, ignored))
    throw ConfigError(str("--data-root ", root.string(),
                          " is no folder, expected one with one "
                          "folder a dataset"));
  Table table;
  table.title = flags.data_root.empty() ? "Datasets: the project's own samples"
                                        : str("Datasets under ", flags.data_root);
  table.columns = {{"dataset"},
                   {"unit"},
                   {"splits"},
                   {"metrics"},
                   {"folder"},
                   {"files", Align::right},
                   {"bytes", Align::right}};
  const auto joined = [](const auto& names) {
    return join(std::vector<std::string>(names.begin(), names.end()), ", ");
  };
  std::vector<const DatasetEntry*> chosen;
  for (const auto& name : flags.datasets) chosen.push_back(&find_dataset(name));
  if (chosen.empty())
    for (const auto& entry : datasets()) chosen.push_back(&entry);
  for (const DatasetEntry* entry : chosen) {
    const auto folder = dataset_folder(*entry, root);
    std::int64_t files = 0, bytes = 0;
    if (folder)
      for (const auto& file : std::filesystem::recursive_directory_iterator(*folder))
        if (file.is_regular_file()) ++files, bytes += static_cast<std::int64_t>(file.file_size());
    table.rows.push_back({std::string(entry->name), std::string(entry->unit), joined(entry->splits),
                          joined(entry->metrics),
                          folder ? Cell(folder->filename().string()) : Cell("-", Json()),
                          number_cell(files), number_cell(bytes)});
  }
  table.notes = {
      "splits: the first is read where none is named. datasets/README.md says where each "
      "dataset comes from, and how its files are called."};
  std::cout << render(table, format);
  return 0;
}

/// Reads everything, and says what is wrong with it. Exit code 2 when a run would refuse a record.
int check_data(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  Table table, findings;
  table.title = "Data check";
  table.columns = {{"dataset"},
                   {"split"},
                   {"state"},
                   {"examples", Align::right},
                   {"fields", Align::right},
                   {"faults", Align::right},
                   {"notes", Align::right}};
  findings.title = "Findings";
  findings.columns = {{"dataset"}, {"split"}, {"kind"}, {"finding"}};
  bool bad = false;
  for (const DatasetEntry* entry : chosen_datasets(flags)) {
    std::vector<Inspection> inspections;
    const std::vector<Dataset> splits = load_splits(*entry, flags, &inspections);
    for (std::size_t i = 0; i < splits.size(); ++i) {
      const Dataset& dataset = splits[i];
      const Inspection& found = inspections[i];
      std::int64_t fields = 0;
      for (const auto& example : dataset.examples) fields += std::ssize(example.fields);
      bad = bad || !found.faults.empty();
      table.rows.push_back(
          {shown_name(dataset), dataset.split, found.faults.empty() ? "good" : "BAD",
           number_cell(std::ssize(dataset.examples)), number_cell(fields),
           number_cell(std::ssize(found.faults)), number_cell(std::ssize(found.notes))});
      for (const auto& [kind, texts] :
           {std::pair{"fault", &found.faults}, std::pair{"note", &found.notes}})
        for (const auto& text : *texts)
          findings.rows.push_back({dataset.name, dataset.split, kind, text});
    }
  }
  table.notes = {
      "fault: a record that is left out here, and that a run refuses; note: read all the "
      "same."};
  std::cout << render(table, format);
  if (!findings.rows.empty()) std::cout << "\n" << render(findings, format);
  return bad ? 2 : 0;
}

/// What attention does for one dataset under PC+PA and under IPPD.
struct AttentionStats {
  std::int64_t examples = 0;
  Mean m, p, c, x, y;
  StagedCost pcpa, ippd;
};

void add(StagedCost& to, const StagedCost& more) {
  to.prefill.flops += more.prefill.flops, to.prefill.accesses += more.prefill.accesses;
  to.decode.flops += more.decode.flops, to.decode.accesses += more.decode.accesses;
}

/// Lengths of all examples asked field by field, in stacks of `contexts` of one category.
AttentionStats attention_of(const Dataset& dataset, const PromptFile& prompt,
                            const Tokenizer& tokenizer, int contexts) {
  AttentionStats stats;
  std::map<std::string, std::vector<CommonContext>> stacks;  // by category, not full yet
  std::map<std::string, std::int64_t> p_of;
  const auto close = [&](const std::string& category, std::vector<CommonContext>& stack) {
    if (!stack.empty()) add(stats.ippd, ippd_cost(p_of[category], stack));
    stack.clear();
  };
  for (const auto& example : dataset.examples) {
    const Job job = make_job(example.id, {&example}, Form::value, prompt, DecodeFlags{});
    const Pieces pieces =
        make_pieces(job, Form::value, prompt, find_chat_template("plain"), tokenizer);
    const auto p = static_cast<std::int64_t>(pieces.prefix.size());
    CommonContext context{static_cast<std::int64_t>(pieces.contexts[0].size()), {}, {}};
    const auto references = references_of({&example}).front();
    for (std::size_t f = 0; f < references.size(); ++f) {
      context.x.push_back(static_cast<std::int64_t>(pieces.fields[0][f].size()));
      // The reference and the end of sequence.
      context.y.push_back(static_cast<std::int64_t>(
          tokenizer.encode_piece(" " + references[f].value_or(std::string(kAbsent)), false).size() +
          1));
      stats.x.add(static_cast<double>(context.x.back()));
      stats.y.add(static_cast<double>(context.y.back()));
    }
    ++stats.examples;
    stats.m.add(static_cast<double>(context.x.size()));
    stats.p.add(static_cast<double>(p));
    stats.c.add(static_cast<double>(context.c));
    add(stats.pcpa, pcpa_cost(p, context));
    p_of[example.category] = p;
    auto& stack = stacks[example.category];
    stack.push_back(std::move(context));
    if (static_cast<int>(stack.size()) == contexts) close(example.category, stack);
  }
  for (auto& [category, stack] : stacks) close(category, stack);
  return stats;
}

/// The means that the model is evaluated at, and what it gives; letters are the paper's.
std::vector<Cell> attention_row(const std::string& name, std::int64_t examples, double m, double p,
                                double c, double x, double y, const AttentionStats* exact) {
  const double sum_x = m * x, half = y / 2;
  const auto cell = [](double value) { return number_cell(value, 3); };
  const auto ratio = [&](double AttentionCost::*what, bool ippd_over_pcpa) {
    if (!exact) return Cell("-", Json());
    const double ippd = exact->ippd.prefill.*what + exact->ippd.decode.*what;
    const double pcpa = exact->pcpa.prefill.*what + exact->pcpa.decode.*what;
    return cell(ippd_over_pcpa ? ippd / pcpa : pcpa / ippd);
  };
  return {name,
          number_cell(examples),
          number_cell(m, 2),
          number_cell(p, 2),
          number_cell(c, 2),
          number_cell(x, 2),
          number_cell(y, 2),
          cell(prefill_flop_factor(p, c, x, sum_x)),
          cell(prefill_access_ratio(p, c, x, sum_x, m)),
          cell(decode_flop_factor(p, c, x, half, sum_x, m * half)),
          cell(pcpa_subsequent_prefill(p, c, x).intensity()),
          cell(ippd_prefill(p, c, sum_x).intensity()),
          cell(pcpa_decode(p, c, x, half).intensity()),
          cell(ippd_decode(p, c, sum_x, m * half, m).intensity()),
          ratio(&AttentionCost::flops, true),
          ratio(&AttentionCost::accesses, false)};
}

int attention(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  if (flags.contexts < 1)
    throw ConfigError(str("--contexts is ", flags.contexts, ", expected at least 1"));
  const Tokenizer tokenizer = tokenizer_of(flags);
  Table table;
  table.title = "Attention per head: IPPD against prefix caching with PagedAttention (PC+PA)";
  table.columns = {{"dataset"},
                   {"contexts", Align::right},
                   {"M", Align::right},
                   {"|p|", Align::right, "p"},
                   {"|c|", Align::right, "c"},
                   {"|x|", Align::right, "x"},
                   {"|y|", Align::right, "y"},
                   {"prefill FLOP factor", Align::right, "prefill_flop_factor"},
                   {"prefill access ratio", Align::right, "prefill_access_ratio"},
                   {"decode FLOP factor", Align::right, "decode_flop_factor"},
                   {"prefill intensity: PC+PA", Align::right, "pcpa_prefill_intensity"},
                   {"IPPD", Align::right, "ippd_prefill_intensity"},
                   {"decode intensity: PC+PA", Align::right, "pcpa_decode_intensity"},
                   {"IPPD ", Align::right, "ippd_decode_intensity"},
                   {"all FLOPs: IPPD / PC+PA", Align::right, "total_flop_factor"},
                   {"all accesses: PC+PA / IPPD", Align::right, "total_access_ratio"}};
  bool samples = false;
  for (const DatasetEntry* entry : chosen_datasets(flags)) {
    const Dataset dataset = load_splits(*entry, flags).front();
    if (dataset.shape == Shape::open) {
      if (flags.datasets.empty()) continue;
      throw ConfigError(
          str("dataset ", dataset.name,
              " is of open prompts, whose contexts no questions share; leave it out"));
    }
    samples = samples || dataset.sample;
    const AttentionStats stats = attention_of(
        dataset, load_prompt(std::string(prompt_name(*entry, dataset))), tokenizer, flags.contexts);
    table.rows.push_back(attention_row(shown_name(dataset), stats.examples, stats.m.value(),
                                       stats.p.value(), stats.c.value(), stats.x.value(),
                                       stats.y.value(), &stats));
  }
  for (const auto& [name, row] : published_rows("ippd/table1.json")) {
    const auto number = [&](const char* key) { return row.at(key).get<double>(); };
    table.rows.push_back(attention_row(
        "paper: " + name, row.at("contexts").get<std::int64_t>(), number("parallelism"),
        number("instruction"), number("context"), number("question"), number("answer"), nullptr));
  }
  table.notes = {
      "The model of the IPPD paper (appendix A.2, Table 3) at the mean lengths: M questions a "
      "context, |p| instruction, |c| context, |x| question, |y| answer with its end of sequence; "
      "decode at half an answer. Intensity: FLOPs per memory access.",
      str("prefill FLOP factor, decode FLOP factor: IPPD / PC+PA, prefill against the first one "
          "alone, as the paper has it; access ratio: PC+PA / IPPD. all: exact sums over the "
          "dataset, every prefill and decode step counted, ",
          flags.contexts, flags.contexts == 1 ? " context" : " contexts", " a prompt."),
      "paper: the lengths of its Table 1."};
  if (samples)
    table.notes.push_back("own sample: the project's small sample, not the publisher's data.");
  std::cout << render(table, format);
  return 0;
}

}  // namespace

Verb data_verb() {
  return {"data", "what the datasets hold, and whether their files are right",
          "pardec data list --data-root data\n  pardec data check --data-root data --dataset "
          "squad\n  pardec data stats --data-root data\n  pardec data stats --dataset oa-mine "
          "--tokenizer "
          "DIR/tokenizer.json --format csv\n  pardec data stats --attention --contexts 6",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<DataFlags>();
            app.add_option("action", flags->action, "list, check or stats")->required();
            app.add_option("--dataset", flags->datasets, "datasets; all without it")
                ->delimiter(',')
                ->type_name("A,B");
            app.add_option(
                   "--data-root", flags->data_root,
                   "folder with one folder a dataset; without it the project's samples are read")
                ->type_name("DIR");
            app.add_option("--split", flags->split, "one split; without it all that are there")
                ->type_name("NAME");
            app.add_option("--tokenizer", flags->tokenizer,
                           "a tokenizer.json or its folder; without it the quickstart's")
                ->type_name("FILE");
            app.add_flag("--attention", flags->attention,
                         "what attention costs where questions share a context, by the model of "
                         "the IPPD paper");
            app.add_option("--contexts", flags->contexts,
                           "with --attention: contexts stacked in one prompt of IPPD")
                ->capture_default_str()
                ->type_name("N");
            app.add_option("--format", flags->format, "md, csv, json, jsonl or latex")
                ->capture_default_str()
                ->type_name("FORMAT");
            return [flags] {
              if (flags->action == "list") return list_data(*flags);
              if (flags->action == "check") return check_data(*flags);
              if (flags->action != "stats")
                throw ConfigError(str("data: '", flags->action, "'",
                                      known_names(flags->action, {"list", "check", "stats"})));
              return flags->attention ? attention(*flags) : stats(*flags);
            };
          }};
}

}  // namespace pardec
