// The tables of settings: what JSON sets, what is written back, and what is refused.
#include <cmath>

#include "src/settings/run_settings.hpp"
#include "src/settings/training_settings.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// The text of the error; "" if there is none.
template <typename Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string refused_run(const Json& json) {
  return refusal([&] { read_run_settings(json, "e.json"); });
}

std::string refused_training(const Json& json) {
  return refusal([&] { read_training_settings(json, "t.json"); });
}

/// A value of the row's kind, other than its default.
Json other_value(const Setting& row) {
  if (!row.traits.choices.empty()) return row.traits.choices.back();
  struct Maker {
    Json operator()(bool*) const { return true; }
    Json operator()(int* held) const { return *held + 1; }
    Json operator()(std::int64_t* held) const { return *held + 1; }
    Json operator()(std::uint64_t*) const { return std::numeric_limits<std::uint64_t>::max(); }
    Json operator()(double*) const { return 0.25; }
    Json operator()(std::optional<int>*) const { return 3; }
    Json operator()(std::optional<std::int64_t>*) const { return 3; }
    Json operator()(std::string*) const { return "a text"; }
    Json operator()(std::vector<std::string>*) const { return Json{"a,b", "c"}; }
    Json operator()(std::vector<double>*) const { return Json{0.25, 0.5}; }
    Json operator()(const OptionEntry& held) const {
      switch (held.option.type) {
        case Option::Type::flag:
          return true;
        case Option::Type::whole:
          return 7;
        case Option::Type::number:
          return 0.5;
        case Option::Type::text:
        case Option::Type::token:
          break;
      }
      return "x";
    }
  };
  return std::visit(Maker(), row.value);
}

/// Every row of a struct's table takes another value, returns it, and does not change the others.
template <typename Struct>
void check_every_row(const Struct& defaults) {
  Struct first = defaults;
  const Settings rows = settings_of(first);
  REQUIRE(rows.size() > 40);
  for (const Setting& row : rows) {
    if (!row.traits.in_file) continue;
    INFO(row.name);
    Struct changed = defaults;
    const Json given = other_value(row);
    CHECK(read_settings(settings_of(changed), {{row.name, given}}, "a test") ==
          std::set<std::string>{row.name});
    Json expected = json_of(defaults);
    CHECK(expected.value(row.name, Json()) != given);
    expected[row.name] = given;
    CHECK(json_of(changed) == expected);
  }
}

/// Every row refuses a value of another kind, with file, key, what was found and what was expected.
template <typename Struct>
void check_kinds(const Struct& defaults) {
  Struct settings = defaults;
  const Json before = json_of(settings);
  for (const Setting& row : settings_of(settings)) {
    if (!row.traits.in_file) continue;
    INFO(row.name);
    const bool text = std::holds_alternative<std::string*>(row.value) ||
                      std::holds_alternative<std::vector<std::string>*>(row.value);
    std::vector<Json> wrong{Json(), Json::object(), Json{{"x", 1}}};
    if (!std::holds_alternative<OptionEntry>(row.value)) {
      wrong.push_back(text ? Json(true) : Json("ten"));
      if (!takes_several(row)) wrong.push_back(Json::array({1}));
      if (takes_several(row)) wrong.push_back(Json{{1}});
    }
    for (const Json& value : wrong) {
      const std::string said = refusal([&] {
        read_settings(settings_of(settings), {{row.name, value}}, "f.json");
      });
      INFO(dump(value) << ": " << said);
      CHECK(said.starts_with(str("f.json: '", row.name, "' is ")));
      CHECK(said.find(", expected ") != std::string::npos);
    }
    CHECK(json_of(settings) == before);
  }
}

/// The smallest or largest value of every bound is accepted, and values beyond are refused: in
/// JSON, and in a struct that a program filled.
template <typename Struct>
int check_bounds(const Struct& defaults) {
  int bounded = 0;
  Struct settings = defaults;
  for (const Setting& row : settings_of(settings)) {
    const NumberRange& range = row.traits.range;
    const bool whole = !std::holds_alternative<double*>(row.value) &&
                       !std::holds_alternative<std::vector<double>*>(row.value);
    const auto as_json = [&](double value) {
      return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
    };
    const auto try_both = [&](double value, bool good) {
      INFO(row.name << " " << value);
      if (row.traits.in_file) {
        Struct tried = defaults;
        const std::string said = refusal([&] {
          read_settings(settings_of(tried), {{row.name, as_json(value)}}, "f.json");
        });
        CHECK(said.empty() == good);
        if (!good) CHECK(said.find(range.expected) != std::string::npos);
      }
      Struct filled = defaults;
      for (const Setting& one : settings_of(filled))
        if (one.name == row.name) {
          if (const auto* held = std::get_if<int*>(&one.value)) **held = static_cast<int>(value);
          if (const auto* held = std::get_if<std::int64_t*>(&one.value))
            **held = static_cast<std::int64_t>(value);
          if (const auto* held = std::get_if<std::optional<int>*>(&one.value))
            **held = static_cast<int>(value);
          if (const auto* held = std::get_if<std::optional<std::int64_t>*>(&one.value))
            **held = static_cast<std::int64_t>(value);
          if (const auto* held = std::get_if<double*>(&one.value)) **held = value;
          if (const auto* held = std::get_if<std::vector<double>*>(&one.value)) **held = {value};
        }
      const std::string of_struct = refusal([&] { check_settings(settings_of(filled)); });
      CHECK(of_struct.empty() == good);
      if (!good) CHECK(of_struct.starts_with(str("`", row.name, "` is ")));
    };
    const double step = whole ? 1 : 0.001;
    if (std::isfinite(range.least)) {
      try_both(range.least, !range.above_least);
      try_both(range.least + step, true);
      try_both(range.least - step, false);
    }
    if (std::isfinite(range.most)) {
      try_both(range.most, !range.below_most);
      try_both(range.most - step, true);
      try_both(range.most + step, false);
    }
    bounded += std::isfinite(range.least) || std::isfinite(range.most);
  }
  return bounded;
}

/// The default of the struct is within every bound and among every choice.
template <typename Struct>
void check_defaults(const Struct& defaults) {
  Struct settings = defaults;
  check_settings(settings_of(settings));
  CHECK(json_of(settings) == json_of(defaults));
}

}  // namespace

TEST_CASE("defaults are written and read back to equal settings") {
  for (const bool sweep : {false, true}) {
    const RunSettings defaults{.sweep = sweep};
    const Json json = json_of(defaults);
    CHECK(json["batch_size"] == 8);
    CHECK(json["order"] == "interleaved");
    CHECK(json.contains("resume") == !sweep);
    CHECK(json.contains("fresh") == sweep);
    CHECK(json_of(read_run_settings(json, "e.json", sweep)) == json);
  }
  const TrainingSettings defaults;
  const Json json = json_of(defaults);
  CHECK(json["lr"] == 1e-3);
  CHECK_FALSE(json.contains("micro_tokens"));
  CHECK(json_of(read_training_settings(json, "t.json")) == json);
}

TEST_CASE("each row of a table has its own value, and refuses one of another kind") {
  check_every_row(RunSettings());
  check_every_row(RunSettings{.sweep = true});
  check_every_row(TrainingSettings());
  check_kinds(RunSettings());
  check_kinds(RunSettings{.sweep = true});
  check_kinds(TrainingSettings());
}

TEST_CASE("each bound of a table applies in JSON and in a struct") {
  check_defaults(RunSettings());
  check_defaults(RunSettings{.sweep = true});
  check_defaults(TrainingSettings());
  CHECK(check_bounds(RunSettings()) == 11);
  CHECK(check_bounds(RunSettings{.sweep = true}) == 12);
  CHECK(check_bounds(TrainingSettings()) == 30);
}

TEST_CASE("an experiment is read with its own keys") {
  const Json experiment = {
      {"name", "e"},
      {"models", {{"main", "/nowhere/main"}, {"extra", "/nowhere/extra"}}},
      {"model", "main"},
      {"datasets", {"oa-mine", "mine=my.jsonl"}},
      {"decoders",
       {{{"name", "ar"}},
        {{"label", "h"}, {"name", "hpd"}, {"model", "extra"}, {"set", {{"k_max", 9}}}}}},
      {"batch-size", 3},
      {"columns", "arm,speedup"},
      {"eos", {7, "###"}},
      {"cache_blocks", 40}};
  const RunSettings settings = read_run_settings(experiment, "e.json");
  CHECK(settings.spec.name == "e");
  CHECK(settings.spec.model.model == "/nowhere/main");
  CHECK(settings.spec.datasets == std::vector<std::string>{"oa-mine", "mine=my.jsonl"});
  CHECK(settings.arms.size() == 2);
  CHECK(settings.arms[1].starts_with("h=hpd"));
  CHECK(settings.batch_size == 3);
  CHECK(settings.output.columns.names == std::vector<std::string>{"arm", "speedup"});
  CHECK(settings.spec.decode.eos == std::vector<std::string>{"7", "###"});
  CHECK(settings.spec.cache.blocks == 40);
  CHECK(json_of(read_run_settings(json_of(settings), "again.json")) == json_of(settings));

  Json sweep = experiment;
  sweep["grid"] = {{"hpd.k_max", {8, 16}}};
  sweep["target_ci"] = 0.02;
  const RunSettings cells = read_run_settings(sweep, "s.json", true);
  CHECK(cells.axes.size() == 1);
  CHECK(cells.target_ci == "0.02");
  CHECK(json_of(cells)["grid"] == sweep["grid"]);
}

TEST_CASE("a given value beats the experiment") {
  RunSettings settings;
  settings.batch_size = 5;
  settings.spec.datasets = {"squad"};
  settings.decoders = {"ar"};
  const auto read = read_experiment({{"batch_size", 2},
                                     {"limit", 4},
                                     {"datasets", {"oa-mine"}},
                                     {"decoders", {{{"name", "hpd"}}}}},
                                    "e.json", settings, {"batch_size", "dataset", "decoder"});
  CHECK(read == std::set<std::string>{"limit"});
  CHECK(settings.batch_size == 5);
  CHECK(settings.spec.limit == 4);
  CHECK(settings.spec.datasets == std::vector<std::string>{"squad"});
  CHECK(settings.arms.empty());
}

TEST_CASE("invalid keys and values of an experiment are refused with their place") {
  CHECK(refused_run({{"batchsize", 2}}) ==
        "e.json: unknown key 'batchsize'; did you mean 'batch_size'?");
  CHECK(refused_run({{"config", "x.json"}}).starts_with("e.json: unknown key 'config'"));
  CHECK(refused_run({{"limit", "ten"}}) ==
        "e.json: 'limit' is 'ten', expected a whole number, at least 0");
  CHECK(refused_run({{"limit", 1.5}}) ==
        "e.json: 'limit' is 1.5, expected a whole number, at least 0");
  CHECK(refused_run({{"batch_size", 3000000000}}) ==
        "e.json: 'batch_size' is 3000000000, expected a whole number, at least 1");
  CHECK(refused_run({{"seed", -1}}) ==
        "e.json: 'seed' is -1, expected a whole number from 0 to 18446744073709551615");
  CHECK(refused_run({{"unseen", 1}}) == "e.json: 'unseen' is 1, expected true or false");
  CHECK(refused_run({{"order", "random"}}) ==
        "e.json: 'order' is 'random', expected interleaved or blocked");
  CHECK(refused_run({{"dataset", {"oa-mine", 3}}}) ==
        "e.json: 'dataset' is 3, expected a text or a list of texts");
  CHECK(refused_run(Json::array()) == "e.json: is array, expected an object");
  CHECK(refused_run({{"name", 3}}).starts_with("e.json: 'name' is 3"));
  CHECK(refused_run({{"grid", {{"hpd.k_max", {8}}}}}).starts_with("e.json: 'grid' is run by"));
  CHECK(refused_run({{"target_ci", "2%"}}).starts_with("e.json: unknown key 'target_ci'"));
  CHECK(refused_training({{"epoch", 2}}) == "t.json: unknown key 'epoch'; did you mean 'epochs'?");
  CHECK(refused_training({{"lr", 0}}) == "t.json: 'lr' is 0, expected a number, more than 0");
}

TEST_CASE("a spec is refused with the names of settings") {
  RunSettings settings;
  settings.decoders = {"ar"};
  settings.spec.datasets = {"oa-mine"};
  settings.batch_size = 0;
  const auto said = [&] { return refusal([&] { make_run_spec(settings); }); };
  CHECK(said() == "`batch_size` is 0, expected at least 1");
  settings.batch_size = 1;
  settings.spec.decode.temperature = std::nan("");
  CHECK(said() == "`temperature` is nan, expected a finite number");
  settings.spec.decode.temperature = 0;
  settings.spec.order = "random";
  CHECK(said() == "`order` is 'random', expected interleaved or blocked");
  settings.spec.order = "blocked";
  CHECK(said().empty());
  settings.sweep = true;
  settings.grid = {"hpd.k_max=8"};
  settings.fresh = settings.spec.retry_errors = true;
  CHECK(said().starts_with("`retry_errors` repeats failed jobs"));

  TrainingSettings training;
  training.spec.dtype = "int8";
  CHECK(refusal([&] { make_training_spec(training); }) ==
        "`dtype` is int8, expected fp32 or bf16: quantised weights cannot be trained");
}

TEST_CASE("the settings of a training depend on what it trains") {
  TrainingSettings settings;
  CHECK(make_training_spec(settings).trainer.micro_tokens == TrainerOptions().micro_tokens);
  CHECK(make_training_spec(settings).format == usual_formats(false));
  settings.spec.adapter.rank = 4;
  settings.spec.extra_heads.heads = 2;
  settings.spec.seed = 9;
  settings.threads = 3;
  const TrainingSpec spec = make_training_spec(settings);
  CHECK(spec.trainer.micro_tokens == 512);
  CHECK(spec.format == usual_formats(true));
  CHECK(spec.trainer.seed == 9);
  CHECK(spec.trainer.workers == 3);
  settings.micro_tokens = 64;
  settings.format = {"hpd"};
  CHECK(make_training_spec(settings).trainer.micro_tokens == 64);
  CHECK(make_training_spec(settings).format == std::vector<std::string>{"hpd"});
}

TEST_CASE("a schema has every row, with its kind, bounds, choices and default") {
  const OrderedJson experiment = experiment_schema()["properties"];
  for (const bool sweep : {false, true}) {
    RunSettings settings{.sweep = sweep};
    for (const Setting& row : settings_of(settings)) {
      INFO(row.name);
      if (row.traits.in_file) CHECK(experiment.contains(row.name));
    }
  }
  CHECK_FALSE(experiment.contains("slurm"));  // tasks of the array would inherit it
  CHECK(experiment["batch_size"]["type"] == "integer");
  CHECK(experiment["batch_size"]["minimum"] == 1);
  CHECK(experiment["batch_size"]["default"] == 8);
  CHECK(experiment["cache_watermark"]["exclusiveMaximum"] == 1);
  CHECK(experiment["order"]["enum"] == OrderedJson{"interleaved", "blocked"});
  CHECK(experiment["unseen"]["type"] == "boolean");
  CHECK(experiment["target_ci"]["type"] == OrderedJson{"string", "number"});
  CHECK(experiment["hardware"]["anyOf"][1]["type"] == "array");
  const OrderedJson training = training_schema()["properties"];
  CHECK(training["lr"]["exclusiveMinimum"] == 0);
  CHECK(training["unannotated"]["anyOf"][0]["type"] == "number");
  TrainingSettings settings;
  for (const Setting& row : settings_of(settings)) CHECK(training.contains(row.name));
}
