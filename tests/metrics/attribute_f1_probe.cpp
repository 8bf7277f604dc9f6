// attribute_f1_probe DATASET ROOT SPLIT < predictions
// The scores of predictions, as one JSON object. Predictions: one JSON object on each line, for the
// examples in file order: attribute -> value or null. A missing attribute is absent.
#include <exception>
#include <iostream>
#include <string>

#include "datasets/dataset.hpp"
#include "metrics/attribute_f1.hpp"
#include "src/support/json.hpp"

namespace {

using namespace pardec;

Json to_json(const AttributeScores& scores) {
  const auto& c = scores.micro;
  return {{"counts", {c.nn, c.nv, c.vn, c.vc, c.vw}},
          {"micro", {scores.micro_precision, scores.micro_recall, scores.micro_f1}},
          {"macro", {scores.macro_precision, scores.macro_recall, scores.macro_f1}}};
}

int probe(const std::string& name, const std::string& root, const std::string& split) {
  std::vector<AttributePrediction> predictions;
  std::string line;
  for (const Example& example : load_dataset(find_dataset(name), root, split, root).examples) {
    std::getline(std::cin, line);
    const Json values = parse_json(line, "standard input", 0);
    for (const auto& field : example.fields) {
      auto& prediction = predictions.emplace_back(AttributePrediction{
          example.category, field.name, field.annotated, field.references, std::nullopt});
      if (values.contains(field.name) && values[field.name].is_string())
        prediction.prediction = values[field.name];
    }
  }
  std::cout << dump(Json{{"extractgpt", to_json(extractgpt_f1(predictions))},
                         {"strict", to_json(strict_f1(predictions))}})
            << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc == 4 ? probe(argv[1], argv[2], argv[3]) : 2;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
