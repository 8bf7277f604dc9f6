// The values that a training run learns.
#include "src/finetune/example_source.hpp"

#include "decoders/training_formats.hpp"
#include "src/finetune/training_start.hpp"
#include "src/model/files/config.hpp"
#include "src/prompt/prompt_choice.hpp"
#include "src/support/project_files.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// Titles with `fields` attributes each, one of them annotated.
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
  parts.examples.back().unannotated = unannotated;
  return ExampleSource(std::move(parts), tokenizer).epoch(number);
}

std::int64_t targets(const std::vector<TrainingSample>& samples) {
  std::int64_t count = 0;
  for (const TrainingSample& sample : samples) count += std::ssize(sample.targets);
  return count;
}

}  // namespace

TEST_CASE("the given share of the unannotated attributes is learned as absent") {
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

TEST_CASE("each epoch draws again which of them are learned, and feeds all of them") {
  const auto first = epoch("hpd", 0.3), second = epoch("hpd", 0.3, 1), whole = epoch("hpd", 1);
  CHECK(targets(first) != targets(second));
  const auto fed = [](const std::vector<TrainingSample>& samples) {
    size_t count = 0;
    for (const TrainingSample& sample : samples) count += sample.tokens.size();
    return count;
  };
  CHECK(fed(first) == fed(whole));
}

TEST_CASE("each dataset has its own share, or all have the same") {
  TrainingSpec spec;
  spec.dataset = {"oa-mine", "ae-110k"};
  spec.unannotated = {0.25, 0.5};
  const TrainingData apart = read_data(spec);
  REQUIRE(apart.examples.size() == 2);
  for (size_t at = 0; at < 2; ++at) {
    CHECK(apart.examples[at].unannotated == spec.unannotated[at]);
    TrainingSpec alone = spec;
    alone.dataset = {spec.dataset[at]};
    alone.unannotated = {spec.unannotated[at]};
    const TrainingData own = read_data(alone);
    REQUIRE(own.examples.size() == 1);
    REQUIRE(apart.examples[at].train.size() == own.examples.front().train.size());
    CHECK(apart.examples[at].train.front().id == own.examples.front().train.front().id);
  }
  spec.unannotated = {0.5};
  const TrainingData together = read_data(spec);
  REQUIRE(together.examples.size() == 1);
  CHECK(together.examples.front().unannotated == 0.5);
  CHECK(together.examples.front().train.size() ==
        apart.examples[0].train.size() + apart.examples[1].train.size());
}
