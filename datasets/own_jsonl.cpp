#include "datasets/own_jsonl.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "datasets/reading.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

void check_keys(const Record& record, const std::vector<std::string>& known) {
  for (const auto& [key, value] : record.json().items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      record.fail(str("unknown key '", key, "'", known_names(key, known)));
}

void read_references(const Record& record, ExampleField& field) {
  field.annotated = record.has("references");
  field.references = record.texts_or_none("references");
}

ExampleField read_field(const Record& record, size_t number) {
  check_keys(record, {"id", "name", "question", "choices", "references"});
  ExampleField field;
  if (record.has("id")) field.id = record.text("id");
  if (record.has("question")) field.question = record.text("question");
  if (record.has("name"))
    field.name = record.text("name");
  else if (!field.question.empty())
    field.name = str("q", number);
  else
    record.fail("has neither 'name' nor 'question', expected one of them");
  field.choices = record.texts_or_none("choices");
  read_references(record, field);
  if (field.choices.size() > kMostChoices)
    record.fail(str("has ", field.choices.size(), " choices, expected at most ", kMostChoices));
  if (!field.choices.empty())
    for (std::string& reference : field.references) {
      const auto letter = reference_letter(reference, field.choices);
      if (!letter)
        record.fail(str("'references' has '", reference,
                        "', expected the letter of a choice (A to ",
                        static_cast<char>('A' + field.choices.size() - 1), ") or a choice's text"));
      reference = std::string(1, *letter);
    }
  return field;
}

/// The turns of a record with "prompt" or "turns".
void read_turns(const Record& record, Example& example) {
  const bool one = record.has("prompt");
  check_keys(record, {"id", "category", one ? "prompt" : "turns", "references"});
  const auto turns = one ? std::vector{record.text("prompt")} : record.texts("turns");
  if (turns.empty()) record.fail("'turns' is empty, expected what the user says");
  for (size_t t = 0; t < turns.size(); ++t) {
    ExampleField& field = example.fields.emplace_back();
    field.name = turns.size() == 1 ? "answer" : str("turn ", t + 1);
    field.question = turns[t];
    field.annotated = false;
  }
  if (turns.size() == 1)
    read_references(record, example.fields.front());
  else if (record.has("references"))
    record.fail("'references' stands beside several turns, expected none");
  example.conversation = turns.size() > 1;
}

/// The same of a record with "messages": user and assistant in turns, the user first.
void read_messages(const Record& record, Example& example) {
  check_keys(record, {"id", "category", "messages"});
  for (const Record& message : record.records("messages")) {
    check_keys(message, {"role", "content"});
    const std::string role = message.text("role");
    const bool asked = !example.fields.empty() && !example.fields.back().annotated;
    if (role != (asked ? "assistant" : "user"))
      message.fail(str("'role' is '", role, "', expected ", asked ? "assistant" : "user",
                       ": the two take turns, and the user begins"));
    if (asked) {
      example.fields.back().annotated = true;
      example.fields.back().references = {message.text("content")};
      continue;
    }
    ExampleField& field = example.fields.emplace_back();
    field.question = message.text("content");
    field.annotated = false;
  }
  if (example.fields.empty()) record.fail("'messages' is empty, expected what the user says");
  const bool one = example.fields.size() == 1;
  for (size_t t = 0; t < example.fields.size(); ++t)
    example.fields[t].name = one ? "answer" : str("turn ", t + 1);
  example.conversation = !one;
}

Shape read_example(const Record& record, Example& example) {
  if (record.has("id")) example.id = record.text("id");
  example.category = record.has("category") ? record.text("category") : "all";
  if (record.has("prompt") || record.has("turns")) {
    read_turns(record, example);
    return Shape::open;
  }
  if (record.has("messages")) {
    read_messages(record, example);
    return Shape::open;
  }
  check_keys(record, {"id", "category", "text", "fields"});
  example.text = record.text("text");
  for (const Record& field : record.records("fields")) {
    ExampleField read = read_field(field, example.fields.size() + 1);
    for (size_t other = 0; other < example.fields.size(); ++other)
      if (example.fields[other].name == read.name)
        field.fail(str("is named '", read.name, "' as field ", other + 1,
                       " of the record is (without a name, the second is q2); expected one name ",
                       "each"));
    example.fields.push_back(std::move(read));
  }
  if (example.fields.empty()) record.fail("'fields' is empty, expected at least one");
  const auto asks = [](const ExampleField& field) {
    return !field.question.empty() || !field.choices.empty();
  };
  const auto asked = std::count_if(example.fields.begin(), example.fields.end(), asks);
  if (asked != 0 && asked != std::ssize(example.fields))
    record.fail("has fields with and without 'question' or 'choices', expected all or none");
  return asked ? Shape::questions : Shape::attributes;
}

}  // namespace

Dataset load_own_jsonl(const std::filesystem::path& folder, std::string_view split,
                       Inspection* inspection) {
  Dataset dataset{"jsonl", std::string(split)};
  const auto file = find_file("jsonl", split, folder, {str(split, ".jsonl")});
  dataset.files = {file};
  std::optional<Shape> first;
  std::map<std::string, std::vector<std::string>> attributes;  // by category
  std::int64_t records = 0;
  each_line(file, inspection, [&](const std::string& text, long number) {
    const OrderedJson json = parse_record(text, file.string(), number);
    const Record record(json, file.string(), number);
    Example example;
    example.id = str(split, "-", records++);
    const Shape shape = read_example(record, example);
    if (first && shape != *first)
      record.fail(
          "is of another shape than the records before; expected all with questions, all with "
          "names alone, or all open prompts");
    if (shape == Shape::attributes) {
      std::vector<std::string> names;
      for (const auto& field : example.fields) names.push_back(field.name);
      if (attributes.emplace(example.category, names).first->second != names)
        record.fail(str("has other fields than the records of category '", example.category,
                        "' before; expected the same names in the same order"));
    }
    first = shape;
    example.cluster =
        cluster_of(str(example.text, example.text.empty() ? example.fields[0].question : ""));
    dataset.examples.push_back(std::move(example));
  });
  dataset.shape = first.value_or(Shape::open);
  return dataset;
}

}  // namespace pardec
