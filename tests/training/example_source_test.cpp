// Of which values a training run learns.
#include "src/finetune/example_source.hpp"

#include "decoders/training_formats.hpp"
#include "src/model/config.hpp"
#include "src/prompt/prompt_choice.hpp"
#include "src/support/project_files.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// Titles of which each has `fields` attributes, one of them annotated.
TrainingExamples titles(int count, int fields) {
  TrainingExamples all{.shape = Shape::attributes, .task = "attributes"};
  all.prompt = load_prompt(all.task);
  for (int t = 0; t < count; ++t) {
    Example example{.id = "t" + std::to_string(t), .category = "Tea", .text = "Green tea"};
    for (int f = 0; f < fields; ++f) {
      ExampleField field{.name = "Field " + std::to_string(f), .annotated = f == 0};
      if (f == 0) field.references = {"Green"};
      example.fields.push_back(std::move(field));
    }
    all.train.push_back(std::move(example));
  }
  return all;
}

std::vector<TrainingSample> epoch(const std::string& format, double unannotated, int number = 0) {
  static const auto folder = project_file("experiments/quickstart/model");
  static const Tokenizer tokenizer = Tokenizer::load(folder / "tokenizer.json");
  static const ModelConfig config = read_model_config(folder);
  ExampleSource::Parts parts;
  for (auto& made : make_formats({format}, read_training_options(Json::object()),
                                 {tokenizer, config}, /*extra_heads=*/false))
    parts.formats.push_back({std::move(made), 1});
  parts.examples.push_back(titles(60, 5));
  parts.unannotated = unannotated;
  return ExampleSource(std::move(parts), tokenizer).epoch(number);
}

std::int64_t targets(const std::vector<TrainingSample>& samples) {
  std::int64_t count = 0;
  for (const TrainingSample& sample : samples) count += std::ssize(sample.targets);
  return count;
}

}  // namespace

TEST_CASE("so large a share of the attributes that nobody annotated is learned as absent") {
  for (const std::string format : {"ar", "ar-value", "hpd"}) {
    INFO(format);
    const std::int64_t none = targets(epoch(format, 0)), all = targets(epoch(format, 1));
    REQUIRE(none > 0);
    const auto share = [&](double of) {
      return static_cast<double>(targets(epoch(format, of)) - none) /
             static_cast<double>(all - none);
    };
    // Of 240 draws: six standard deviations of a share of .3 are .18.
    CHECK(share(0.3) == Approx(0.3).margin(0.18));
    CHECK(share(0.9) == Approx(0.9).margin(0.12));
    CHECK(share(0.3) == share(0.3));
  }
}

TEST_CASE("each epoch draws anew which of them are learned, and feeds them all") {
  const auto first = epoch("hpd", 0.3), second = epoch("hpd", 0.3, 1), whole = epoch("hpd", 1);
  CHECK(targets(first) != targets(second));
  const auto fed = [](const std::vector<TrainingSample>& samples) {
    size_t count = 0;
    for (const TrainingSample& sample : samples) count += sample.tokens.size();
    return count;
  };
  CHECK(fed(first) == fed(whole));
}
