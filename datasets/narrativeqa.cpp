#include "datasets/narrativeqa.hpp"

#include <algorithm>
#include <map>

#include "datasets/csv.hpp"
#include "datasets/reading.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Reads rows of Hugging Face's export, one question per row.
void read_stories(Dataset& dataset, Inspection* inspection) {
  ExamplesByKey examples(dataset);  // by document
  each_record(dataset.files, inspection, [&](const Record& row) {
    const Record document = row.record("document");
    ExampleField field;
    field.question = row.record("question").text("text");
    for (const Record& answer : row.records("answers"))
      if (const std::string said = answer.text("text");
          std::find(field.references.begin(), field.references.end(), said) ==
          field.references.end())
        field.references.push_back(said);
    if (field.references.empty()) row.fail("'answers' is empty, expected at least one");
    const std::string id = document.text("id");
    const std::string summary = document.record("summary").text("text");
    const auto [example, fresh] = examples.of(id);
    if (fresh) {
      example.id = id;
      example.category = document.has("kind") ? document.text("kind") : "summaries";
      example.text = summary;
      example.cluster = cluster_of(example.text);
    }
    ExamplesByKey::add(example, std::move(field));
  });
}

}  // namespace

Dataset load_narrativeqa(const std::filesystem::path& folder, std::string_view split,
                         Inspection* inspection) {
  check_split("narrativeqa", split, {"train", "valid", "test"});
  Dataset dataset{"narrativeqa", std::string(split)};
  dataset.shape = Shape::questions;
  if (std::error_code ignored; !std::filesystem::exists(folder / "qaps.csv", ignored))
    dataset.files = find_rows(
        folder, {std::string(split), std::string(split == "valid" ? "validation" : split)});
  if (!dataset.files.empty()) {
    read_stories(dataset, inspection);
    return dataset;
  }
  const auto questions = find_file("narrativeqa", split, folder, {"qaps.csv"});
  const auto summaries = find_file("narrativeqa", split, folder,
                                   {"summaries.csv", "third_party/wikipedia/summaries.csv"});
  dataset.files = {questions, summaries};

  std::map<std::string, std::string> kinds;
  if (std::error_code ignored; std::filesystem::exists(folder / "documents.csv", ignored)) {
    dataset.files.push_back(folder / "documents.csv");
    each_row(dataset.files.back(), {"document_id", "kind"}, inspection,
             [&](const CsvRow& row) { kinds[row.text("document_id")] = row.text("kind"); });
  }
  std::map<std::string, std::string> texts;
  each_row(summaries, {"document_id", "set", "summary"}, inspection, [&](const CsvRow& row) {
    if (row.text("set") != split) return;
    if (!texts.emplace(row.text("document_id"), row.text("summary")).second)
      throw DataError(row.file, row.line,
                      str("document ", row.text("document_id"), " has a second summary"));
  });

  std::map<std::string, size_t> index;
  each_row(questions, {"document_id", "set", "question", "answer1", "answer2"}, inspection,
           [&](const CsvRow& row) {
             if (row.text("set") != split) return;
             const std::string& id = row.text("document_id");
             const auto text = texts.find(id);
             if (text == texts.end())
               throw DataError(row.file, row.line,
                               str("document ", id, " has no summary in ", summaries.string()));
             ExampleField field;
             field.question = row.text("question");
             field.references = {row.text("answer1")};
             if (row.text("answer2") != field.references[0])
               field.references.push_back(row.text("answer2"));
             const auto [found, fresh] = index.emplace(id, dataset.examples.size());
             if (fresh) {
               Example& example = dataset.examples.emplace_back();
               example.id = id;
               example.category = kinds.contains(id) ? kinds[id] : "summaries";
               example.text = text->second;
               example.cluster = cluster_of(example.text);
             }
             auto& fields = dataset.examples[found->second].fields;
             field.name = str("q", fields.size() + 1);
             fields.push_back(std::move(field));
           });
  if (dataset.examples.empty() && (!inspection || inspection->faults.empty()))
    throw ConfigError(str("dataset 'narrativeqa': ", questions.string(),
                          " has no question of split '", split, "'"));
  return dataset;
}

}  // namespace pardec
