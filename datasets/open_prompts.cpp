#include "datasets/open_prompts.hpp"

#include <map>

#include "datasets/reading.hpp"
#include "src/support/files.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Strings = std::vector<std::string>;

/// Reads a file of JSON lines into the dataset, one example per line.
void read_lines(Dataset& dataset, const std::filesystem::path& file, Inspection* inspection,
                const std::function<Example(const Record&)>& read) {
  dataset.files.push_back(file);
  each_line(file, inspection, [&](const std::string& text, long number) {
    const OrderedJson json = parse_record(text, file.string(), number);
    Example example = read(Record(json, file.string(), number));
    example.cluster = cluster_of(str(example.text, example.fields.front().question));
    dataset.examples.push_back(std::move(example));
  });
}

ExampleField open_field(std::string name, std::string question, const Strings& references) {
  ExampleField field;
  field.name = std::move(name);
  field.question = std::move(question);
  field.references = references;
  field.annotated = !references.empty();
  return field;
}

Example read_conversation(const Record& record) {
  Example example;
  example.id = std::to_string(record.integer("question_id"));
  example.category = record.text("category");
  const Strings turns = record.texts("turns");
  const Strings references = record.has("reference") ? record.plains("reference") : Strings{};
  if (turns.empty()) record.fail("'turns' is empty, expected what the user says");
  if (!references.empty() && references.size() != turns.size())
    record.fail(str("has ", counted(std::ssize(turns), "turn"), " and ",
                    counted(std::ssize(references), "item"), " in 'reference', expected as many"));
  for (size_t t = 0; t < turns.size(); ++t) {
    Strings reference;  // the published file has empty ones for turns without a reference
    if (!references.empty() && !strip(references[t]).empty()) reference = {references[t]};
    example.fields.push_back(
        open_field(turns.size() == 1 ? "answer" : str("turn ", t + 1), turns[t], reference));
  }
  example.conversation = turns.size() > 1;
  return example;
}

/// Sets the references of the questions that the file answers.
void read_reference_answers(Dataset& dataset, const std::filesystem::path& file,
                            Inspection* inspection) {
  dataset.files.push_back(file);
  std::map<std::string, Example*> by_id;
  for (Example& example : dataset.examples) by_id[example.id] = &example;
  each_line(file, inspection, [&](const std::string& text, long number) {
    const OrderedJson json = parse_record(text, file.string(), number);
    const Record record(json, file.string(), number);
    const auto found = by_id.find(std::to_string(record.integer("question_id")));
    if (found == by_id.end())
      record.fail(str("answers question ", record.integer("question_id"),
                      ", which the questions' file does not have"));
    const auto choices = record.records("choices");
    if (choices.empty()) record.fail("'choices' is empty, expected one answer");
    const Strings turns = choices.front().texts("turns");
    auto& fields = found->second->fields;
    if (turns.size() != fields.size())
      record.fail(str("answers ", counted(std::ssize(turns), "turn"), " of question ", found->first,
                      ", which has ", fields.size()));
    for (size_t t = 0; t < turns.size(); ++t) {
      fields[t].references = {turns[t]};
      fields[t].annotated = true;
    }
  });
}

Dataset load_bench(std::string_view name, const std::filesystem::path& folder,
                   std::string_view split, Inspection* inspection) {
  Dataset dataset = open_dataset(name, split, {"test"});
  read_lines(dataset, find_file(name, split, folder, {"question.jsonl"}), inspection,
             read_conversation);
  for (const char* file : {"reference_answer.jsonl", "reference_answer/gpt-4.jsonl"})
    if (std::error_code ignored; std::filesystem::exists(folder / file, ignored)) {
      read_reference_answers(dataset, folder / file, inspection);
      break;
    }
  return dataset;
}

}  // namespace

Dataset load_mt_bench(const std::filesystem::path& folder, std::string_view split,
                      Inspection* inspection) {
  return load_bench("mt-bench", folder, split, inspection);
}

Dataset load_vicuna_bench(const std::filesystem::path& folder, std::string_view split,
                          Inspection* inspection) {
  return load_bench("vicuna-bench", folder, split, inspection);
}

Dataset load_humaneval_x(const std::filesystem::path& folder, std::string_view split,
                         Inspection* inspection) {
  Dataset dataset = open_dataset("humaneval-x", split, {"test"});
  const auto file =
      find_file("humaneval-x", split, folder,
                {"python.jsonl", "humaneval_python.jsonl", "python/data/humaneval_python.jsonl"});
  read_lines(dataset, file, inspection, [](const Record& record) {
    Example example;
    const std::string task = record.text("task_id");
    if (!task.starts_with("Python/"))
      record.fail(str("'task_id' is '", task, "', expected Python/N"));
    example.id = "python-" + task.substr(7);
    example.category = "python";
    example.text = record.text("prompt");
    example.fields = {open_field("code", "", {record.text("canonical_solution")})};
    example.fields.front().test = record.text("test");
    return example;
  });
  return dataset;
}

Dataset load_cip(const std::filesystem::path& folder, std::string_view split,
                 Inspection* inspection) {
  Dataset dataset = open_dataset("cip", split, {"test", "train"});
  read_lines(
      dataset, find_file("cip", split, folder, {str(split, ".jsonl")}), inspection,
      [&](const Record& record) {
        Example example;
        example.id = str(split, "-", dataset.examples.size());
        example.category = "prompts";
        example.fields = {open_field("answer", record.text("prompt"), {record.text("response")})};
        return example;
      });
  return dataset;
}

namespace {

Example summary_example(std::string id, std::string document, std::string summary) {
  Example example;
  example.id = std::move(id);
  example.category = "news";
  example.text = std::move(document);
  example.fields = {open_field("summary", "", {std::move(summary)})};
  return example;
}

/// The part of a .summary file after `[SN]NAME[SN]`.
std::string section(const std::string& content, const std::string& name, const std::string& file) {
  const std::string opening = str("[SN]", name, "[SN]");
  const size_t begin = content.find(opening);
  const std::string text(
      begin == std::string::npos
          ? ""
          : strip(std::string_view(content).substr(
                begin + opening.size(),
                content.find("[SN]", begin + opening.size()) - begin - opening.size())));
  if (text.empty()) throw DataError(file, 0, str("has no text after ", opening));
  return text;
}

}  // namespace

Dataset load_xsum(const std::filesystem::path& folder, std::string_view split,
                  Inspection* inspection) {
  Dataset dataset = open_dataset("xsum", split, {"train", "validation", "test"});
  const std::string list = "XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json";
  const auto file = find_file("xsum", split, folder, {list, str(split, ".jsonl")});
  if (file.filename() != list) {
    read_lines(dataset, file, inspection, [](const Record& record) {
      return summary_example(record.text("id"), record.text("document"), record.text("summary"));
    });
    return dataset;
  }
  guarded(inspection, [&] {
    dataset.files = {file};
    const OrderedJson json = read_record(file, inspection);
    for (const auto& id : Record(json, file.string(), 0).texts(dataset.split.c_str()))
      guarded(inspection, [&] {
        const auto article = folder / "bbc-summary-data" / (id + ".summary");
        note_encoding(article, inspection);
        const std::string content = replace_all(read_file(article), "\r\n", "\n");
        Example example = summary_example(id, section(content, "RESTBODY", article.string()),
                                          section(content, "FIRST-SENTENCE", article.string()));
        example.cluster = cluster_of(example.text);
        dataset.examples.push_back(std::move(example));
        dataset.files.push_back(article);
      });
  });
  return dataset;
}

}  // namespace pardec
