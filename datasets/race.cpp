#include "datasets/race.hpp"

#include <algorithm>
#include <map>

#include "datasets/reading.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The .txt files of a folder, in the order of the numbers in their names.
std::vector<std::filesystem::path> numbered_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == ".txt")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    const std::string x = a.stem().string(), y = b.stem().string();
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  return files;
}

ExampleField read_choices(const Record& record, const std::string& question,
                          const OrderedJson& options, const std::string& letter,
                          const std::string& options_name, const std::string& answer_name) {
  ExampleField field;
  field.question = question;
  if (!options.is_array())
    record.fail(str(options_name, " is ", options.type_name(), ", expected a list"));
  for (const auto& option : options) {
    if (!option.is_string())
      record.fail(str(options_name, " holds ", option.type_name(), ", expected strings"));
    field.choices.push_back(option.get<std::string>());
  }
  if (field.choices.size() < 2 || letter.size() != 1 || letter[0] < 'A' ||
      letter[0] - 'A' >= std::ssize(field.choices))
    record.fail(str(answer_name, " is '", letter, "' of ", field.choices.size(),
                    " options, expected the letter of one of at least two"));
  field.references = {letter};
  return field;
}

/// Reads rows of Hugging Face's export, one question per row.
void read_rows(const std::vector<std::string>& levels, Dataset& dataset, Inspection* inspection) {
  ExamplesByKey examples(dataset);  // by id
  each_record(dataset.files, inspection, [&](const Record& row) {
    std::string id = row.text("example_id");  // "high1.txt"
    if (id.ends_with(".txt")) id.resize(id.size() - 4);
    const std::string level = id.substr(0, id.find_first_of("0123456789"));
    if (std::find(levels.begin(), levels.end(), level) == levels.end()) {
      // belongs to a split that was not requested
      if (level == "middle" || level == "high") return;
      row.fail(str("'example_id' is '", row.text("example_id"),
                   "', expected one such as high1.txt or middle1.txt"));
    }
    ExampleField field = read_choices(row, row.text("question"), row.at("options"),
                                      row.text("answer"), "'options'", "'answer'");
    const std::string article = row.text("article");
    const auto [example, fresh] = examples.of(id);
    if (fresh) {
      example.id = str(level, "-", id.substr(level.size()));
      example.category = level;
      example.text = article;
      example.cluster = cluster_of(example.text);
    } else if (example.text != article) {
      row.fail(str("'article' is another text than that of ", id, " before"));
    }
    ExamplesByKey::add(example, std::move(field));
  });
}

Example read_passage(const Record& record) {
  Example example;
  example.text = record.text("article");
  example.cluster = cluster_of(example.text);
  const auto questions = record.texts("questions"), answers = record.texts("answers");
  const OrderedJson& options = record.at("options");
  if (!options.is_array())
    record.fail(str("'options' is ", options.type_name(), ", expected a list"));
  if (questions.empty() || questions.size() != answers.size() || questions.size() != options.size())
    record.fail(str("has ", counted(std::ssize(questions), "question"), ", ",
                    counted(std::ssize(options), "option"), " and ",
                    counted(std::ssize(answers), "answer"),
                    ", expected as many of each, and at least one"));
  for (size_t q = 0; q < questions.size(); ++q) {
    example.fields.push_back(read_choices(record, questions[q], options[q], answers[q],
                                          str("options[", q, "]"), str("answers[", q, "]")));
    example.fields.back().name = str("q", q + 1);
  }
  return example;
}

}  // namespace

Dataset load_race(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection) {
  std::vector<std::string> splits{"train", "dev", "test"};
  for (const char* part : {"train", "dev", "test"})
    for (const char* level : {"middle", "high"}) splits.push_back(str(part, "-", level));
  check_split("race", split, splits);
  const std::string part(split.substr(0, split.find('-')));
  std::vector<std::string> levels{"middle", "high"};
  if (part != split) levels = {std::string(split.substr(part.size() + 1))};

  Dataset dataset{"race", std::string(split)};
  dataset.shape = Shape::questions;
  if (std::error_code ignored; !std::filesystem::exists(folder / part, ignored))
    dataset.files = find_rows(folder, {part, part == "dev" ? "validation" : part});
  if (!dataset.files.empty()) {
    read_rows(levels, dataset, inspection);
    return dataset;
  }
  for (const auto& level : levels) {
    const auto files = numbered_files(find_file("race", split, folder, {str(part, "/", level)}));
    if (files.empty())
      complain(inspection, DataError((folder / part / level).string(), 0,
                                     "has no .txt file, expected one a passage"));
    for (const auto& file : files)
      guarded(inspection, [&] {
        const OrderedJson json = read_record(file, inspection);
        Example example = read_passage(Record(json, file.string(), 0));
        example.id = str(level, "-", file.stem().string());
        example.category = level;
        dataset.examples.push_back(std::move(example));
        dataset.files.push_back(file);
      });
  }
  return dataset;
}

}  // namespace pardec
