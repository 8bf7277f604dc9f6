#include "datasets/multiple_choice.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "datasets/csv.hpp"
#include "datasets/reading.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Splits = std::vector<std::string>;

Dataset choice_dataset(std::string_view name, std::string_view split, const Splits& splits) {
  check_split(name, split, splits);
  Dataset dataset{std::string(name), std::string(split)};
  dataset.shape = Shape::questions;
  return dataset;
}

struct Question {
  std::string id, category, text, asked;
  std::vector<std::string> choices;
  std::size_t right = 0;  ///< index of the right choice
};

void add(Dataset& dataset, Question question) {
  Example example;
  example.id = std::move(question.id);
  example.category = std::move(question.category);
  example.text = std::move(question.text);
  ExampleField field;
  field.name = "q1";
  field.question = std::move(question.asked);
  field.choices = std::move(question.choices);
  field.references = {choice_letter(question.right)};
  example.cluster = cluster_of(example.text.empty() ? field.question : example.text);
  example.fields.push_back(std::move(field));
  dataset.examples.push_back(std::move(example));
}

/// "SPLIT-N" for the next example.
std::string next_id(const Dataset& dataset) {
  return str(dataset.split, "-", dataset.examples.size());
}

/// The index of the right one of `count` choices: a number from 0, also as text, or true for 1.
std::size_t right_index(const Record& record, const char* key, std::size_t count) {
  const OrderedJson& value = record.at(key);
  std::optional<std::int64_t> index;
  if (value.is_boolean())
    index = value.get<bool>() ? 1 : 0;
  else if (value.is_number_integer())
    index = value.get<std::int64_t>();
  else if (value.is_string() && value.get<std::string>().size() == 1)
    index = value.get<std::string>()[0] - '0';
  if (!index || *index < 0 || *index >= static_cast<std::int64_t>(count))
    record.fail(str("'", key, "' is ", dump(value), ", expected the number of one of ", count,
                    " choices, counted from 0"));
  return static_cast<std::size_t>(*index);
}

/// The index of the choice with this label.
std::size_t labelled(const Record& record, const char* key,
                     const std::vector<std::string>& labels) {
  const std::string label = record.text(key);
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found == labels.end())
    record.fail(str("'", key, "' is '", label, "', expected one of ", join(labels, ", ")));
  return static_cast<std::size_t>(found - labels.begin());
}

std::vector<std::string> letters(std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(choice_letter(i));
  return all;
}

void check_choices(const Record& record, const std::vector<std::string>& choices) {
  if (choices.size() < 2 || choices.size() > kMostChoices)
    record.fail(
        str("has ", counted(std::ssize(choices), "choice"), ", expected 2 to ", kMostChoices));
}

/// The publisher's name of split validation, or of another split.
std::string publishers(std::string_view split, std::string_view validation) {
  return std::string(split == "validation" ? validation : split);
}

std::vector<std::filesystem::path> sorted_files(const std::filesystem::path& folder,
                                                std::string_view ending) {
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing))
    if (entry.is_regular_file() && entry.path().filename().string().ends_with(ending))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Dataset load_mmlu(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection) {
  Dataset dataset = choice_dataset("mmlu", split, {"test", "validation", "dev"});
  std::map<std::string, std::int64_t> numbers;  // by subject
  const auto take = [&](const std::string& subject, const std::string& question,
                        std::vector<std::string> choices, std::size_t right) {
    add(dataset,
        {str(subject, "-", numbers[subject]++), subject, "", question, std::move(choices), right});
  };
  dataset.files = find_rows(folder, {dataset.split});
  if (!dataset.files.empty()) {
    each_record(dataset.files, inspection, [&](const Record& record) {
      auto choices = record.plains("choices");
      check_choices(record, choices);
      const std::size_t right = right_index(record, "answer", choices.size());
      take(record.text("subject"), record.text("question"), std::move(choices), right);
    });
    return dataset;
  }
  const std::string part = publishers(split, "val");
  const std::string ending = str("_", part, ".csv");
  dataset.files = sorted_files(folder / part, ending);
  if (dataset.files.empty())
    find_file("mmlu", split, folder,
              {str(split, ".jsonl"), str(split, ".parquet"), str(part, "/SUBJECT", ending)});
  const std::vector<std::string> columns = {"question", "A", "B", "C", "D", "answer"};
  for (const auto& file : dataset.files) {
    std::string subject = file.filename().string();
    subject.resize(subject.size() - ending.size());
    each_row_without_header(file, columns, inspection, [&](const CsvRow& row) {
      const std::string answer(strip(row.text("answer")));
      if (answer.size() != 1 || answer[0] < 'A' || answer[0] > 'D')
        throw DataError(row.file, row.line,
                        str("the last field is '", answer, "', expected A, B, C or D"));
      take(subject, row.text("question"),
           {row.text("A"), row.text("B"), row.text("C"), row.text("D")},
           static_cast<std::size_t>(answer[0] - 'A'));
    });
  }
  return dataset;
}

Dataset load_agieval(const std::filesystem::path& folder, std::string_view split,
                     Inspection* inspection) {
  Dataset dataset = choice_dataset("agieval", split, {"test"});
  dataset.files = sorted_files(folder, ".jsonl");
  if (dataset.files.empty()) find_file("agieval", split, folder, {"TASK.jsonl"});
  std::map<std::string, std::int64_t> left_out;  // by file
  for (const auto& file : dataset.files) {
    std::int64_t number = 0;
    each_record({file}, inspection, [&](const Record& record) {
      const std::int64_t own = number++;
      const bool listed = record.has("options") && record.at("options").is_array();
      if (!listed || !record.has("label") || !record.at("label").is_string()) {
        ++left_out[file.string()];
        return;
      }
      auto choices = record.plains("options");
      check_choices(record, choices);
      for (std::size_t i = 0; i < choices.size(); ++i) {
        const std::string mark = str("(", choice_letter(i), ")");
        if (choices[i].starts_with(mark)) choices[i] = strip(choices[i].substr(mark.size()));
      }
      const std::size_t right = labelled(record, "label", letters(choices.size()));
      const bool passage = record.has("passage") && record.at("passage").is_string();
      add(dataset, {str(file.stem().string(), "-", own), file.stem().string(),
                    passage ? record.plain("passage") : "", record.text("question"),
                    std::move(choices), right});
    });
  }
  if (inspection)
    for (const auto& [file, count] : left_out)
      inspection->notes.push_back(str(file, ": ", counted(count, "record"),
                                      " without options, or with several answers: not read"));
  return dataset;
}

Dataset load_commonsense_qa(const std::filesystem::path& folder, std::string_view split,
                            Inspection* inspection) {
  Dataset dataset = choice_dataset("commonsense-qa", split, {"validation", "train"});
  dataset.files =
      rows_of(dataset, folder, dataset.split, publishers(split, "dev") + "_rand_split.jsonl");
  each_record(dataset.files, inspection, [&](const Record& record) {
    Question question{record.text("id"), "commonsense-qa", "", "", {}};
    std::vector<std::string> labels;
    if (record.at("question").is_object()) {
      const Record asked = record.record("question");
      question.asked = asked.text("stem");
      for (const Record& choice : asked.records("choices")) {
        labels.push_back(choice.text("label"));
        question.choices.push_back(choice.text("text"));
      }
    } else {
      question.asked = record.text("question");
      const Record choices = record.record("choices");
      labels = choices.texts("label");
      question.choices = choices.texts("text");
    }
    check_choices(record, question.choices);
    if (labels.size() != question.choices.size())
      record.fail(str("has ", labels.size(), " labels of ", question.choices.size(),
                      " choices, expected as many of each"));
    question.right = labelled(record, "answerKey", labels);
    add(dataset, std::move(question));
  });
  return dataset;
}

Dataset load_boolq(const std::filesystem::path& folder, std::string_view split,
                   Inspection* inspection) {
  Dataset dataset = choice_dataset("boolq", split, {"validation", "train"});
  dataset.files = rows_of(dataset, folder, dataset.split, publishers(split, "dev") + ".jsonl");
  each_record(dataset.files, inspection, [&](const Record& record) {
    std::string asked(strip(record.text("question")));
    if (!asked.ends_with("?")) asked += "?";
    const bool yes = right_index(record, record.has("answer") ? "answer" : "label", 2) == 1;
    add(dataset, {next_id(dataset),
                  "boolq",
                  record.text("passage"),
                  std::move(asked),
                  {"yes", "no"},
                  yes ? 0u : 1u});
  });
  return dataset;
}

Dataset load_piqa(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection) {
  Dataset dataset = choice_dataset("piqa", split, {"validation", "train"});
  const std::string own = publishers(split, "valid");
  dataset.files = rows_of(dataset, folder, dataset.split, own + ".jsonl");
  std::vector<std::string> labels;
  const auto list = folder / (own + "-labels.lst");
  if (std::filesystem::is_regular_file(list)) {
    each_line(list, inspection, [&](const std::string& line, long number) {
      labels.emplace_back(strip(line));
      if (labels.back() != "0" && labels.back() != "1")
        throw DataError(list.string(), number, str("is '", line, "', expected 0 or 1"));
    });
  }
  std::size_t number = 0;
  each_record(dataset.files, inspection, [&](const Record& record) {
    const std::size_t own_number = number++;
    std::size_t right = 0;
    if (record.has("label"))
      right = right_index(record, "label", 2);
    else if (own_number < labels.size())
      right = labels[own_number] == "1" ? 1 : 0;
    else
      record.fail(str("has no 'label', and ", list.filename().string(), " has ",
                      counted(std::ssize(labels), "line"), ", expected one per record"));
    add(dataset, {str(split, "-", own_number),
                  "piqa",
                  "",
                  record.text("goal"),
                  {record.text("sol1"), record.text("sol2")},
                  right});
  });
  if (labels.empty()) return dataset;
  dataset.files.push_back(list);
  if (labels.size() != number)
    complain(inspection, DataError(list.string(), 0,
                                   str("has ", counted(std::ssize(labels), "line"),
                                       ", expected one for each of ",
                                       counted(static_cast<std::int64_t>(number), "record"))));
  return dataset;
}

Dataset load_rte(const std::filesystem::path& folder, std::string_view split,
                 Inspection* inspection) {
  Dataset dataset = choice_dataset("rte", split, {"validation", "train"});
  const auto take = [&](std::string premise, std::string hypothesis, bool entailed) {
    add(dataset, {next_id(dataset),
                  "rte",
                  std::move(premise),
                  std::move(hypothesis),
                  {"True", "False"},
                  entailed ? 0u : 1u});
  };
  const auto entailed = [](const std::string& label) -> std::optional<bool> {
    if (label == "entailment") return true;
    if (label == "not_entailment") return false;
    return std::nullopt;
  };
  const auto tsv = folder / (publishers(split, "dev") + ".tsv");
  if (std::filesystem::is_regular_file(tsv)) {
    dataset.files = {tsv};
    bool header = true;
    // Quotes have no meaning in these files.
    each_line(tsv, inspection, [&](const std::string& line, long number) {
      if (std::exchange(header, false)) return;
      const auto fields = pardec::split(line, '\t');
      const auto fail = [&](const std::string& what) {
        throw DataError(tsv.string(), number, what);
      };
      if (fields.size() != 4)
        fail(str("has ", counted(std::ssize(fields), "field"),
                 ", expected index, sentence1, sentence2 and label"));
      const auto label = entailed(std::string(strip(fields[3])));
      if (!label)
        fail(str("the label is '", fields[3], "', expected entailment or not_entailment"));
      take(fields[1], fields[2], *label);
    });
    return dataset;
  }
  dataset.files = rows_of(dataset, folder, dataset.split, publishers(split, "val") + ".jsonl");
  each_record(dataset.files, inspection, [&](const Record& record) {
    const bool glue = record.has("sentence1");
    const OrderedJson& given = record.at("label");
    auto label = given.is_string() ? entailed(given.get<std::string>()) : std::nullopt;
    if (!label) label = right_index(record, "label", 2) == 0;
    take(record.text(glue ? "sentence1" : "premise"),
         record.text(glue ? "sentence2" : "hypothesis"), *label);
  });
  return dataset;
}

namespace {

/// A text of HellaSwag without its marks.
std::string without_marks(std::string_view text) {
  const std::string titled = replace_all(std::string(strip(text)), " [title]", ". ");
  std::string out;
  for (std::size_t at = 0; at < titled.size(); ++at) {
    if (titled[at] == '[')
      if (const auto end = titled.find(']', at); end != std::string::npos) {
        at = end;
        continue;
      }
    out += titled[at];
  }
  return std::string(strip(replace_all(std::move(out), "  ", " ")));
}

}  // namespace

Dataset load_hellaswag(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection) {
  Dataset dataset = choice_dataset("hellaswag", split, {"validation", "train"});
  dataset.files = rows_of(dataset, folder, dataset.split,
                          str("hellaswag_", publishers(split, "val"), ".jsonl"));
  each_record(dataset.files, inspection, [&](const Record& record) {
    auto endings = record.texts("endings");
    check_choices(record, endings);
    const std::size_t right = right_index(record, "label", endings.size());
    for (std::string& ending : endings) ending = without_marks(ending);
    std::string source = record.has("source_id") ? record.text("source_id") : "hellaswag";
    source.resize(std::min(source.find('~'), source.size()));
    add(dataset, {next_id(dataset), std::move(source), "",
                  without_marks(str(record.text("activity_label"), ": ", record.text("ctx"))),
                  std::move(endings), right});
  });
  return dataset;
}

}  // namespace pardec
