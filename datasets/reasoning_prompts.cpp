#include "datasets/reasoning_prompts.hpp"

#include <array>
#include <cmath>

#include "datasets/csv.hpp"
#include "datasets/reading.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/number_text.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::size_t kRagBench = 200;  // questions of the benchmark

Example problem(std::string id, std::string category, std::string question, std::string answer) {
  Example example;
  example.id = std::move(id);
  example.category = std::move(category);
  ExampleField field;
  field.name = "answer";
  field.question = std::move(question);
  field.references = {std::move(answer)};
  example.fields.push_back(std::move(field));
  example.cluster = cluster_of(example.fields.front().question);
  return example;
}

/// A number or a text, as answers are stored; whole numbers without ".0".
std::string plain_answer(const Record& record, const char* key) {
  const OrderedJson& value = record.at(key);
  if (value.is_string()) return record.text(key);
  if (!value.is_number())
    record.fail(str("'", key, "' is ", value.type_name(), ", expected a number or a text"));
  const double number = value.get<double>();
  return number == std::floor(number) ? fixed(number, 0) : dump(value);
}

/// Competition problems as JSON lines, with the text under either of two names.
Dataset load_problems(std::string_view name, const std::filesystem::path& folder,
                      std::string_view split, const std::vector<std::string>& splits,
                      Inspection* inspection) {
  Dataset dataset = open_dataset(name, split, splits);
  dataset.files = rows_of(dataset, folder, dataset.split);
  each_record(dataset.files, inspection, [&](const Record& record) {
    const char* key = record.has("problem") ? "problem" : "question";
    dataset.examples.push_back(problem(
        record.has("id") ? plain_answer(record, "id") : str(split, "-", dataset.examples.size()),
        std::string(name), record.text(key), plain_answer(record, "answer")));
  });
  return dataset;
}

}  // namespace

Dataset load_math500(const std::filesystem::path& folder, std::string_view split,
                     Inspection* inspection) {
  Dataset dataset = open_dataset("math500", split,
                                 {"test", "level-1", "level-2", "level-3", "level-4", "level-5"});
  const auto file = find_file("math500", split, folder, {"test.jsonl"});
  dataset.files = {file};
  each_record(dataset.files, inspection, [&](const Record& record) {
    const bool all = split == "test";
    // the published file has numbers, some copies have texts
    if (!all && str("level-", plain_answer(record, "level")) != split) return;
    dataset.examples.push_back(problem(record.text("unique_id"), record.text("subject"),
                                       record.text("problem"), record.text("answer")));
  });
  return dataset;
}

Dataset load_aime(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection) {
  return load_problems("aime", folder, split, {"2024", "2025"}, inspection);
}

Dataset load_amc23(const std::filesystem::path& folder, std::string_view split,
                   Inspection* inspection) {
  return load_problems("amc23", folder, split, {"test"}, inspection);
}

Dataset load_gpqa(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection) {
  Dataset dataset = open_dataset("gpqa", split, {"diamond", "main", "extended"});
  const auto file = find_file("gpqa", split, folder, {str("gpqa_", split, ".csv")});
  dataset.files = {file};
  const std::vector<std::string> columns = {"Question", "Correct Answer", "Incorrect Answer 1",
                                            "Incorrect Answer 2", "Incorrect Answer 3"};
  each_row(file, columns, inspection, [&](const CsvRow& row) {
    const auto own = [&](const char* column, const std::string& otherwise) {
      const auto found = row.fields.find(column);
      return found == row.fields.end() || strip(found->second).empty()
                 ? otherwise
                 : std::string(strip(found->second));
    };
    const std::string question(strip(row.text("Question")));
    std::vector<std::pair<std::string, bool>> choices;
    for (std::size_t c = 1; c < columns.size(); ++c)
      choices.emplace_back(strip(row.text(columns[c])), c == 1);
    Rng rng(derive_seed(0, question));
    for (std::size_t i = choices.size(); i > 1; --i)
      std::swap(choices[i - 1], choices[rng.below(i)]);
    std::string asked = question, letter;
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const std::string own_letter = choice_letter(c);
      asked += str("\n", own_letter, ") ", choices[c].first);
      if (choices[c].second) letter = own_letter;
    }
    dataset.examples.push_back(problem(own("Record ID", str(split, "-", dataset.examples.size())),
                                       own("High-level domain", "science"), std::move(asked),
                                       std::move(letter)));
  });
  return dataset;
}

Dataset load_rag_bench(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection) {
  Dataset dataset = open_dataset("rag-bench", split, {"test", "all", "train"});
  dataset.files = rows_of(dataset, folder, split == "train" ? "train" : "test");
  each_record(dataset.files, inspection, [&](const Record& record) {
    if (split == "test" && dataset.examples.size() >= kRagBench) return;
    Example example = problem(str(split, "-", dataset.examples.size()), "questions",
                              record.text("question"), record.text("answer"));
    example.text = record.text("context");
    example.cluster = cluster_of(example.text);
    dataset.examples.push_back(std::move(example));
  });
  return dataset;
}

}  // namespace pardec
