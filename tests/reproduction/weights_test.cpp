// Networks that claims lack are trained by recipes: tiny ones, of the quickstart network.
#include "src/reproduction/weights.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "src/reproduction/scale_inputs.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/project_files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace fs = std::filesystem;

namespace {

/// An item with two claims about a network that a recipe of four updates makes, and its data.
struct PlantedWeights {
  test::TemporaryFolder folder;
  std::vector<std::string> notes;
  ReproduceOptions options;
  PaperItem item;

  PlantedWeights() {
    std::vector<Json> records;
    for (const auto& [prompt, answer] :
         {std::pair("Name a colour.", "blue"), std::pair("Name a fruit.", "an apple"),
          std::pair("Name a river.", "the Rhine")})
      records.push_back(
          {{"id", prompt}, {"prompt", prompt}, {"references", Json::array({answer})}});
    write(at("data/jsonl/train.jsonl"), records);
    write_recipe("tuned", {{"lora-rank", 2}});
    write_item({{"main", quickstart()}, {"tuned", at("nets/tuned").string()}});
    options.db = at("r.sqlite").string();
    options.limit = 2;
    options.threads = 1;
    options.progress = ProgressStyle::none;
    options.notes = [this](const std::string& line) { notes.push_back(line); };
  }

  fs::path at(const std::string& name) const { return folder.path() / name; }
  static std::string quickstart() { return project_file("experiments/quickstart/model").string(); }

  static void write(const fs::path& file, const std::vector<Json>& lines) {
    fs::create_directories(file.parent_path());
    std::string text;
    for (const Json& line : lines) text += dump(line) + "\n";
    write_file(file, text);
  }

  void write_recipe(const std::string& name, const Json& flags, const Json& more = {}) const {
    Json recipe = {{"name", name},
                   {"makes", "a network for a test"},
                   {"source", "the test"},
                   {"model", quickstart()},
                   {"data",
                    {{"datasets", {"jsonl"}},
                     {"root", at("data").string()},
                     {"made_by", {"pardec data prompts", "pardec run"}}}},
                   {"flags",
                    {{"format", "ar"},
                     {"steps", 4},
                     {"lr", 1e-6},
                     {"batch-sequences", 1},
                     {"save-every", 1},
                     {"threads", 1},
                     {"validation", 0}}},
                   {"seed", 7},
                   {"minutes", 3},
                   {"validation_loss", nullptr}};
    recipe["flags"].update(flags);
    recipe.update(more.is_null() ? Json::object() : more);
    write(at("nets/recipes/" + name + ".json"), {recipe});
  }

  void write_item(const Json& models, const Json& decoders = {}) {
    const Json arms = !decoders.is_null()
                          ? decoders
                          : Json{{{"label", "ar"}, {"name", "ar"}},
                                 {{"label", "tuned"}, {"name", "ar"}, {"adapter", "tuned"}}};
    const Json test = {{"kind", "ratio"}, {"metric", "speed"}, {"of", "tuned"},
                       {"over", "ar"},    {"op", ">"},         {"than", 1}};
    Json claims = Json::array();
    for (const char* id : {"C1", "C2"})
      claims.push_back({{"id", id}, {"says", id}, {"test", test}, {"scales", {"small"}}});
    const Json made = {
        {"name", "p-table1"},
        {"paper", {{"id", "hpd"}, {"item", "Table 1"}, {"class", "A"}, {"measures", "speed"}}},
        {"published",
         {{"unit", "ratio"},
          {"source", "printed"},
          {"setting", Json::object()},
          {"keys", {"nothing"}},
          {"datasets", {{"OA-Mine", "oa-mine"}}},
          {"cells", Json::array()},
          {"doubts", Json::array()}}},
        {"match", Json::object()},
        {"scales",
         {{"small",
           {{"models", models},
            {"model", "main"},
            {"datasets", {"oa-mine"}},
            {"limit", 2},
            {"dtype", "fp32"},
            {"decoders", arms},
            {"baseline", "ar"}}}}},
        {"claims", claims}};
    write(at("item.json"), {made});
    item = read_paper_item(at("item.json"));
  }

  std::vector<WantedNetwork> wanted() const { return wanted_networks({&item, &item}, options); }

  /// What the measured arms lack.
  std::string lacks(const std::string& arm) const {
    return runnable_of(item.scale("small"), options).lacking.arms[arm];
  }
};

}  // namespace

TEST_CASE("a network that claims lack is trained once, and then measured") {
  PlantedWeights of;
  const auto wanted = of.wanted();
  REQUIRE(wanted.size() == 1);
  const WantedNetwork& one = wanted.front();
  CHECK(one.claims == std::vector<std::string>{"p-table1 C1", "p-table1 C2"});
  CHECK(one.lacks.empty());
  CHECK(one.data == std::vector<std::string>{"jsonl train.jsonl, 3 examples"});
  CHECK_FALSE(one.begun);
  CHECK(minutes_of(wanted) == 3);
  CHECK_THAT(one.command, Catch::StartsWith("pardec train --model ") &&
                              Catch::Contains(" --steps 4 ") && Catch::Contains(" --seed 7 "));
  CHECK_THAT(of.lacks("tuned"), Catch::Contains("recipe ") && Catch::Contains("tuned.json"));

  const TrainedNetworks trained = train_networks(wanted, std::nullopt, of.options);
  CAPTURE(of.notes);
  CHECK(trained.finished == 1);
  CHECK(trained.stopped + trained.refused == 0);
  const auto state = training_progress(of.at("nets/tuned"));
  REQUIRE(state);
  CHECK(state->finished);
  CHECK(state->steps == 4);
  CHECK(of.wanted().empty());
  CHECK(of.lacks("tuned").empty());
  const Reproduction measured = reproduce(of.item, of.options);
  REQUIRE(measured.run);
  const auto& arms = measured.run->comparison().arms;
  CHECK(std::any_of(arms.begin(), arms.end(), [](const ArmFinding& arm) {
    return arm.run.run.label == "tuned" && arm.run.generations == 2;
  }));
}

TEST_CASE("a record of a training with values of another type is an error that names them") {
  PlantedWeights of;
  const auto record = of.at("nets/tuned/training.json");
  fs::create_directories(record.parent_path());
  const auto [text, said] = GENERATE(table<std::string, std::string>(
      {{R"({"finished": "yes"})", "'finished' is \"yes\", expected true or false"},
       {R"({"result": {"planned_steps": [4]}})", "'planned_steps' is [4], expected a whole"}}));
  write_file(record, text);
  CHECK_THROWS_WITH(training_progress(record.parent_path()), Catch::Contains(said));
}

TEST_CASE("a training that was stopped goes on, to the weights of one that was not") {
  PlantedWeights of;
  of.write_recipe("whole", {{"lora-rank", 2}});
  const TrainedNetworks stopped = train_networks(of.wanted(), 0.01, of.options);
  CHECK(stopped.stopped == 1);
  const auto state = training_progress(of.at("nets/tuned"));
  REQUIRE(state);
  CHECK_FALSE(state->finished);
  CHECK(state->steps == 1);
  CHECK(state->planned == 4);
  // Neither a measurement nor the list of what lacks takes it for a trained network.
  CHECK_THAT(of.lacks("tuned"), Catch::Contains("stopped before its end"));
  const auto wanted = of.wanted();
  REQUIRE(wanted.size() == 1);
  REQUIRE(wanted.front().begun);
  CHECK(wanted.front().minutes == Approx(state->seconds / 60 * 3));

  CHECK(train_networks(wanted, std::nullopt, of.options).finished == 1);
  CHECK(training_progress(of.at("nets/tuned"))->steps == 4);
  const Recipe whole = read_recipe(of.at("nets/recipes/whole.json"));
  finetune(make_training_spec(settings_of_recipe(whole, {})), {});
  CHECK(read_file(of.at("nets/tuned/adapter_model.safetensors")) ==
        read_file(of.at("nets/whole/adapter_model.safetensors")));
}

TEST_CASE("without its data a network is refused, with the commands that make them") {
  PlantedWeights of;
  fs::remove_all(of.at("data"));
  auto wanted = of.wanted();
  REQUIRE(wanted.size() == 1);
  CHECK_THAT(wanted.front().lacks, Catch::Contains("jsonl"));
  CHECK(wanted.front().commands == std::vector<std::string>{"pardec data prompts", "pardec run"});
  CHECK(minutes_of(wanted) == 0);
  CHECK(train_networks(wanted, std::nullopt, of.options).refused == 1);
  CHECK_FALSE(fs::exists(of.at("nets/tuned")));
  CHECK(std::find(of.notes.begin(), of.notes.end(), "  pardec data prompts") != of.notes.end());

  // The publishers' files are where the user says.
  of.write_recipe(
      "tuned", {{"lora-rank", 2}},
      {{"data", {{"datasets", {"oa-mine"}}, {"root", "DATA"}, {"made_by", Json::array()}}}});
  wanted = of.wanted();
  CHECK_THAT(wanted.front().lacks, Catch::Contains("`data_root`"));
  CHECK(wanted.front().commands ==
        std::vector<std::string>{"pardec data fetch oa-mine `data_root=DATA`"});
}

TEST_CASE("of alternative networks the first that can be trained is wanted") {
  PlantedWeights of;
  of.write_item({{"main", PlantedWeights::quickstart()},
                 {"tuned", {of.at("nets/tuned").string(), PlantedWeights::quickstart()}}});
  CHECK(of.wanted().size() == 1);
  fs::remove(of.at("nets/recipes/tuned.json"));
  CHECK(of.wanted().empty());
}

TEST_CASE("a network of the user's own is not trained") {
  PlantedWeights of;
  of.options.models = {{"tuned", PlantedWeights::quickstart()}};
  CHECK(of.wanted().empty());
}

TEST_CASE("a checkpoint that is a merge is made before the training that begins with it") {
  PlantedWeights of;
  const std::string merged = of.at("nets/merged").string();
  of.write_recipe(
      "heads", {{"medusa-heads", 1}, {"medusa-share-head", true}},
      {{"model", merged},
       {"before", {"a command"}},
       {"merge",
        {{"model", PlantedWeights::quickstart()}, {"adapter", of.at("nets/tuned").string()}}}});
  of.write_item(
      {{"main", PlantedWeights::quickstart()},
       {"merged", merged},
       {"heads", of.at("nets/heads").string()}},
      {{{"label", "ar"}, {"name", "ar"}},
       {{"label", "tuned"}, {"name", "medusa"}, {"model", "merged"}, {"adapter", "heads"}}});
  auto wanted = of.wanted();
  REQUIRE(wanted.size() == 1);
  CHECK_THAT(wanted.front().lacks, Catch::Contains("nets/tuned"));
  CHECK(wanted.front().commands == std::vector<std::string>{"a command"});

  const Recipe tuned = read_recipe(of.at("nets/recipes/tuned.json"));
  finetune(make_training_spec(settings_of_recipe(tuned, {})), {});
  wanted = of.wanted();
  CHECK(wanted.front().lacks.empty());
  const TrainedNetworks made = train_networks(wanted, std::nullopt, of.options);
  CAPTURE(of.notes);
  CHECK(made.finished == 1);
  CHECK(fs::exists(of.at("nets/heads/medusa_heads.safetensors")));
  CHECK(of.wanted().empty());

  fs::remove_all(merged);  // the heads are trained, what they belong to lacks
  wanted = of.wanted();
  REQUIRE(wanted.size() == 1);
  CHECK(wanted.front().trained);
  CHECK(wanted.front().minutes == 0);
  CHECK(train_networks(wanted, std::nullopt, of.options).finished == 1);
  CHECK(fs::exists(merged));
}
