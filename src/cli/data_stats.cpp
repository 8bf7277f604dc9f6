// `pardec data stats`: the papers' tables of datasets, with the numbers of the actual files.
#include <iostream>
#include <map>
#include <set>

#include "src/cli/data.hpp"
#include "src/cli/table_output.hpp"
#include "src/findings/corpus.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/table.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"
#include "src/tasks/protocol.hpp"

namespace pardec {

namespace {

/// Adds the papers' rows for datasets that are not in the table.
void add_published(Table& table, const std::set<std::string>& shown) {
  for (const char* file : {"hpd/table2.json", "ippd/table1.json", "space/table5.json"})
    for (const auto& [name, row] : published_rows(file)) {
      if (shown.contains(name)) continue;
      std::vector<Cell> cells(table.columns.size(), Cell("-", Json()));
      cells[0] = "paper: " + name;
      cells[1] = "-";
      const auto put = [&, &row = row](const char* column, const char* key, int decimals) {
        if (!row.contains(key)) return;
        for (std::size_t c = 0; c < table.columns.size(); ++c)
          if (table.columns[c].key == column)
            cells[c] = number_cell(row.at(key).get<double>(), decimals);
      };
      put("examples_published", "test", 0);
      put("examples_published", "contexts", 0);
      put("examples_published", "examples", 0);
      put("attributes_per_category_published", "attributes_per_category", 2);
      put("parallelism_published", "parallelism", 2);
      put("instruction_tokens_published", "instruction", 2);
      put("text_tokens_published", "context", 2);
      put("question_tokens_published", "question", 2);
      put("prompt_tokens_published", "input", 2);
      put("answer_tokens_published", "answer", 2);
      put("answer_tokens_published", "output", 2);
      table.rows.push_back(std::move(cells));
    }
}

}  // namespace

int data_stats(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  const Tokenizer tokenizer = tokenizer_of(flags);
  const auto hpd = published_rows("hpd/table2.json"), ippd = published_rows("ippd/table1.json");
  Table table;
  table.title = "Datasets";
  table.columns =
      with_dataset({{"split"},
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
                    {"instruction", Align::right, "instruction_tokens"},
                    {"paper: instruction", Align::right, "instruction_tokens_published"},
                    {"text", Align::right, "text_tokens"},
                    {"paper: text", Align::right, "text_tokens_published"},
                    {"question", Align::right, "question_tokens"},
                    {"paper: question", Align::right, "question_tokens_published"},
                    {"asked", Align::right, "asked_tokens"},
                    {"prompt", Align::right, "prompt_tokens"},
                    {"paper: prompt", Align::right, "prompt_tokens_published"},
                    {"answer", Align::right, "answer_tokens"},
                    {"paper: answer", Align::right, "answer_tokens_published"},
                    {"value", Align::right, "value_tokens"}});
  bool samples = false, standins = false;
  std::vector<std::string> protocol_notes;
  std::set<std::string> chosen;
  each_split(flags, [&](const DatasetEntry& entry, const Dataset& dataset) {
    chosen.insert(dataset.name);
    samples = samples || dataset.sample, standins = standins || dataset.standin;
    const SplitStats stats =
        stats_of(dataset, protocol_of(entry, dataset, flags, protocol_notes), tokenizer);
    // HPD's table covers all splits, IPPD's only the evaluated one.
    const auto paper = [&](const std::map<std::string, Json>& rows, const std::string& key,
                           int decimals) {
      const auto row = rows.find(dataset.name);
      if (row == rows.end() || !row->second.contains(key)) return Cell("-", Json());
      if (&rows == &ippd && dataset.split != entry.splits.front()) return Cell("-", Json());
      const Json& value = row->second[key];
      return decimals ? number_cell(value.get<double>(), decimals)
                      : number_cell(value.get<std::int64_t>());
    };
    const bool in_hpd = hpd.contains(dataset.name);
    const auto mean = [](const Mean& of) { return number_cell(of.value(), 2); };
    table.rows.push_back(with_dataset(
        dataset_cells(dataset), {dataset.split,
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
                                 mean(stats.instruction),
                                 paper(ippd, "instruction", 2),
                                 mean(stats.text),
                                 paper(ippd, "context", 2),
                                 mean(stats.question),
                                 paper(ippd, "question", 2),
                                 mean(stats.asked),
                                 mean(stats.prompt),
                                 Cell("-", Json()),
                                 mean(stats.answer),
                                 paper(ippd, "answer", 2),
                                 mean(stats.value)}));
  });
  if (flags.published) add_published(table, chosen);
  table.notes = {
      "paper: numbers of Table 2 of the HPD paper (one number of attributes for each dataset) and "
      "of Table 1 of the IPPD paper (lengths of text, question and answer in tokens of Qwen; a "
      "text of RACE has 344.30 tokens in the table, and 344.25 in the published files).",
      "fields: number of fields of all examples; absent: fields for which the text has no answer; "
      "parallelism: fields of one example, mean (in an attribute dataset: the attributes that the "
      "train file has for its category); present: fields of one example with a reference, mean.",
      "attributes/category: attributes that are annotated in the split, mean over categories.",
      str("instruction (with worked examples where the protocol has them), text, question (with "
          "its choices), asked (as it is asked, with its wording), prompt, "
          "answer, value: mean number of tokens of ",
          flags.tokenizer.empty() ? "the quickstart tokenizer" : flags.tokenizer,
          "; answer: for attributes the JSON object with the reference values, otherwise one "
          "field's reference with its end of sequence (for choices: the letter); value: a value "
          "that is not absent, with its quotes and comma.")};
  if (flags.published)
    table.notes.push_back(
        "paper: NAME: the row of a dataset that is not here; of Table 5 of the "
        "SPACE paper, prompt is the mean input and answer the mean output.");
  table.notes.insert(table.notes.end(), protocol_notes.begin(), protocol_notes.end());
  if (samples) table.notes.push_back(kSampleNote);
  if (standins) table.notes.push_back(kStandinMark);
  print_table(table, format);
  return 0;
}

}  // namespace pardec
