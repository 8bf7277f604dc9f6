#include "src/reproduction/counterpart.hpp"

#include <cmath>

#include "src/reproduction/scale_inputs.hpp"
#include "tests/support/catch.hpp"

namespace pardec {

namespace {

/// An item whose cells have these keys, and this `match`.
PaperItem item_of(const std::vector<std::string>& keys, Json match) {
  PaperItem item;
  item.published.keys = keys;
  item.published.datasets = {{"Bench", "vicuna-bench"}, {"Elsewhere", std::nullopt}};
  item.match = std::move(match);
  return item;
}

std::optional<Counterpart> counterpart_of(const PaperItem& item, const std::vector<Json>& at) {
  return Matching(item, item.match).of({at, 1});
}

/// Arms of known levels: `slow` 2, `fast` 3; twice that in category math.
class Known : public NoEvidence {
 public:
  Known() : NoEvidence({}) {}
  std::vector<std::string> categories(const std::string&) const override {
    return {"coding", "math"};
  }
  Found level(const Scope& place, const std::string& arm, const std::string&) const override {
    if (arm == "absent") return {std::nullopt, "arm absent"};
    const double value = (arm == "fast" ? 3 : 2) * (place.categories == kMath ? 2 : 1) +
                         (place.dataset == "mt-bench" ? 10 : 0);
    return {Measured{{value, value - 1, value + 1}, 20}, ""};
  }
  Found ratio(const Scope& place, const std::string& arm, const std::string& other,
              const std::string& metric) const override {
    const Found one = level(place, arm, metric), two = level(place, other, metric);
    if (!one.measured || !two.measured) return one.measured ? two : one;
    const double value = one.measured->value.estimate / two.measured->value.estimate;
    return {Measured{{value, value * 0.9, value * 1.1}, 20}, ""};
  }
  Found difference(const Scope& place, const std::string& arm, const std::string& other,
                   const std::string& metric) const override {
    const double value = level(place, arm, metric).measured->value.estimate -
                         level(place, other, metric).measured->value.estimate;
    return {Measured{{value, value - 0.1, value + 0.1}, 20}, ""};
  }

 private:
  const std::vector<std::string> kMath{"math"};
};

}  // namespace

TEST_CASE("a printed number is compared with the arm, metric and category of its keys") {
  const PaperItem item = item_of(
      {"dataset", "category", "model", "method", "metric"},
      {{"model", "7B"},
       {"category", {{"Coding", "coding"}, {"Mean", "*"}, {"Both", "coding+math"}}},
       {"method", {{"A", "apar"}, {"O", "original"}}},
       {"metric", {{"score", {{"metric", "judge_score"}, {"times", 10}}}, {"TPS", "tps"}}}});
  const auto score = counterpart_of(item, {"Bench", "Coding", "7B", "A", "score"});
  REQUIRE(score);
  CHECK(score->datasets == std::vector<std::string>{"vicuna-bench"});
  CHECK(score->categories == std::vector<std::string>{"coding"});
  CHECK(score->labels() == std::vector<std::string>{"apar"});
  CHECK(score->metric == "judge_score");
  CHECK(score->times == 10);
  CHECK(counterpart_of(item, {"Bench", "Mean", "7B", "O", "TPS"})->categories.empty());
  CHECK(counterpart_of(item, {"Bench", "Mean", "7B", "O", "TPS"})->times == 1);
  CHECK(counterpart_of(item, {"Bench", "Both", "7B", "O", "TPS"})->categories.size() == 2);
  CHECK_FALSE(counterpart_of(item, {"Elsewhere", "Coding", "7B", "A", "TPS"}));
  CHECK_FALSE(counterpart_of(item, {"Bench", "Coding", "7B", "B", "TPS"}));
  const Matching matching(item, item.match);
  CHECK(matching.shown({{"Bench", "Coding", "7B", "A", "TPS"}, 1}));
  CHECK_FALSE(matching.shown({{"Bench", "Coding", "13B", "A", "TPS"}, 1}));
}

TEST_CASE("what is said of all cells yields to what is said of one value") {
  const PaperItem item =
      item_of({"dataset", "quantity"},
              {{"arm", "k5"},
               {"metric", {{"metric", "rouge_l"}, {"times", 100}}},
               {"category", "coding+math"},
               {"quantity",
                {{"score", Json::object()},
                 {"score, SFT", {{"arm", "sft"}}},
                 {"speedup", {{"metric", "tps"}, {"over", "sft"}, {"times", 1}}}}}});
  const auto own = counterpart_of(item, {"Bench", "score"}),
             sft = counterpart_of(item, {"Bench", "score, SFT"}),
             speedup = counterpart_of(item, {"Bench", "speedup"});
  CHECK(own->labels() == std::vector<std::string>{"k5"});
  CHECK(own->categories.size() == 2);
  CHECK(sft->labels() == std::vector<std::string>{"sft"});
  CHECK(sft->metric == "rouge_l");
  CHECK(sft->times == 100);
  CHECK(speedup->labels() == std::vector<std::string>{"k5", "sft"});
  CHECK(speedup->metric == "tps");
  CHECK(speedup->times == 1);
}

TEST_CASE("arms are made of the values of keys") {
  const PaperItem item =
      item_of({"dataset", "method", "batch", "metric"},
              {{"method", {{"SPACE", "k5"}}},
               {"arm", "{method}-{batch}"},
               {"metric",
                {{"ids/s", "tokens_per_second"},
                 {"speedup", {{"metric", "tokens_per_second"}, {"over", "ar-{batch}"}}}}}});
  CHECK(counterpart_of(item, {"Bench", "SPACE", 8, "ids/s"})->labels() ==
        std::vector<std::string>{"k5-8"});
  CHECK(counterpart_of(item, {"Bench", "SPACE", 8, "speedup"})->labels() ==
        std::vector<std::string>{"k5-8", "ar-8"});
}

TEST_CASE("a counterpart is measured in the paper's unit") {
  const Known known;
  Counterpart change{{"vicuna-bench"}, {}, "tps", {{"fast", "slow"}}};
  change.times = 100, change.plus = -100;  // "50 % more"
  const Found more = measured(change, known);
  REQUIRE(more.measured);
  CHECK(more.measured->value.estimate == Approx(50));
  CHECK(more.measured->value.low == Approx(35));
  CHECK(more.measured->value.high == Approx(65));
  CHECK(measured({{"vicuna-bench"}, {}, "tps", {{"fast", "absent"}}}, known).lacks == "arm absent");
  const PaperItem item =
      item_of({"dataset", "quantity"}, {{"metric", "tps"},
                                        {"quantity",
                                         {{"annotation", {{"lacks", "its point"}}},
                                          {"change", {{"arm", "slow"}, {"from", "fast"}}}}}});
  const auto less = counterpart_of(item, {"Bench", "change"});
  CHECK(less->labels() == std::vector<std::string>{"slow", "fast"});
  CHECK(measured(*less, known).measured->value.estimate == Approx(-1));
  CHECK(measured(*counterpart_of(item, {"Bench", "annotation"}), known).lacks == "its point");
}

TEST_CASE("settings of a training are named by their place in its record") {
  const Json record{{"settings",
                     {{"lr", 0.002},
                      {"weight_decay", 0},
                      {"batch_sequences", 0},
                      {"betas", {0.9, 0.999}},
                      {"dtype", "bf16"},
                      {"validate", true},
                      {"medusa", {{"heads", 3}, {"share_head", true}}}}},
                    {"result", {{"steps", 70}}}};
  CHECK(settings_of_training(record) == std::map<std::string, double>{{"lr", 0.002},
                                                                      {"weight_decay", 0},
                                                                      {"betas.1", 0.9},
                                                                      {"betas.2", 0.999},
                                                                      {"medusa.heads", 3},
                                                                      {"steps", 70}});
}

TEST_CASE("a number over several datasets is the mean of theirs") {
  const Known known;
  const PaperItem item = item_of(
      {"suite"},
      {{"arm", "slow"},
       {"suite", {{"chat", {{"metric", "tps"}, {"mean_of", {"vicuna-bench", "mt-bench"}}}}}}});
  const auto both = counterpart_of(item, {"chat"});
  REQUIRE(both);
  const Found mean = measured(*both, known);
  CHECK(mean.measured->value.estimate == Approx(7));  // of 2 and 12
  CHECK(mean.measured->value.high == Approx(7 + std::sqrt(0.5)));
  CHECK(mean.measured->value.low == Approx(7 - std::sqrt(0.5)));
}

TEST_CASE("of several arms or categories the least or the most is compared") {
  const Known known;
  using Extreme = Counterpart::Extreme;
  const PaperItem item =
      item_of({"dataset", "quantity"},
              {{"metric", "tps"},
               {"quantity",
                {{"least", {{"least_of", Json::parse(R"([["fast", "slow"], ["slow", "fast"]])")}}},
                 {"most", {{"most_of", {"slow", "fast", "slow"}}}},
                 {"best category", {{"arm", "slow"}, {"most_of", "categories"}}},
                 {"worst category", {{"arm", "slow"}, {"least_of", "categories"}}},
                 {"partly", {{"most_of", {"slow", "absent"}}}}}}});
  const auto value = [&](const char* quantity) {
    const Found found = measured(*counterpart_of(item, {"Bench", quantity}), known);
    return found.measured ? found.measured->value.estimate : std::nan("");
  };
  CHECK(counterpart_of(item, {"Bench", "least"})->extreme == Extreme::least);
  CHECK(value("least") == Approx(2.0 / 3));
  CHECK(value("most") == Approx(3));
  CHECK(value("best category") == Approx(4));
  CHECK(value("worst category") == Approx(2));
  CHECK(std::isnan(value("partly")));  // the absent one may be the most
}

}  // namespace pardec
