#include "datasets/longhealth.hpp"

#include "datasets/reading.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

ExampleField read_question(const Record& question) {
  ExampleField field;
  field.id = std::to_string(question.integer("No"));
  field.question = question.text("question");
  const std::string correct(strip(question.text("correct")));
  for (const char* key : {"answer_a", "answer_b", "answer_c", "answer_d", "answer_e"}) {
    field.choices.push_back(question.text(key));
    if (strip(field.choices.back()) == correct && field.references.empty())
      field.references = {choice_letter(field.choices.size() - 1)};
  }
  if (field.references.empty())
    question.fail(str("'correct' is '", correct, "', which is none of answer_a to answer_e"));
  return field;
}

Example read_patient(const Record& patient) {
  Example example;
  example.category = "patients";
  const Record texts = patient.record("texts");
  size_t number = 0;
  for (const auto& [key, text] : texts.json().items())
    example.text +=
        str(number++ ? "\n\n" : "", "Document ", number, ":\n", texts.text(key.c_str()));
  if (number == 0) patient.fail("'texts' is empty, expected at least one document");
  for (const Record& question : patient.records("questions")) {
    example.fields.push_back(read_question(question));
    example.fields.back().name = str("q", example.fields.size());
  }
  if (example.fields.empty()) patient.fail("'questions' is empty, expected at least one");
  example.cluster = cluster_of(example.text);
  return example;
}

}  // namespace

Dataset load_longhealth(const std::filesystem::path& folder, std::string_view split,
                        Inspection* inspection) {
  check_split("longhealth", split, {"test"});
  Dataset dataset{"longhealth", std::string(split)};
  dataset.shape = Shape::questions;
  const auto file =
      find_file("longhealth", split, folder, {"benchmark_v5.json", "data/benchmark_v5.json"});
  dataset.files = {file};
  guarded(inspection, [&] {
    const OrderedJson json = read_record(file, inspection);
    const Record patients(json, file.string(), 0);
    for (const auto& [id, patient] : json.items())
      guarded(inspection, [&, id = id] {
        Example example = read_patient(patients.record(id.c_str()));
        example.id = id;
        dataset.examples.push_back(std::move(example));
      });
  });
  return dataset;
}

}  // namespace pardec
