#include "src/scoring/dataset_rows.hpp"

#include "src/support/hashing.hpp"
#include "src/support/text.hpp"

namespace pardec {

DatasetRow dataset_row(const Dataset& dataset) {
  std::string all;
  for (const auto& file : dataset.files)
    all += str(file.filename().string(), " ", sha256_file(file), "\n");
  return {dataset.name, dataset.split, sha256(all), dataset.sample, dataset.standin};
}

std::vector<SampleRow> sample_rows(const std::vector<Example>& examples) {
  std::vector<SampleRow> rows;
  for (const auto& example : examples) {
    Json fields = Json::array();
    for (const auto& field : example.fields) {
      Json& row = fields.emplace_back(Json{
          {"name", field.name}, {"annotated", field.annotated}, {"references", field.references}});
      for (const auto& [key, text] :
           {std::pair{"id", &field.id}, std::pair{"question", &field.question},
            std::pair{"test", &field.test}})
        if (!text->empty()) row[key] = *text;
      if (!field.choices.empty()) row["choices"] = field.choices;
    }
    rows.push_back(
        {example.id, example.cluster, example.category, example.text, std::move(fields)});
  }
  return rows;
}

}  // namespace pardec
