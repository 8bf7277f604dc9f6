#include "src/prompt/job.hpp"

#include "src/support/error.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

Job parse(const std::string& text) { return parse_job(Json::parse(text), "job.json"); }

}  // namespace

TEST_CASE("a Job is read and written back the same") {
  const std::string text =
      R"({"id":"j","instruction":"I","shots":[{"context":"c","field":"f","answer":"a"}],
    "contexts":[{"id":"1","category":"k","text":"t","fields":[{"name":"n","question":"q","choices":["x","y"]}]}],
    "limits":{"max_new_tokens":9,"per_field":3},"sampling":{"temperature":0.5,"top_k":4,"top_p":0.9},"seed":7})";
  CHECK(Json::parse(dump(to_json(parse(text)))) == Json::parse(text));
}

TEST_CASE("what a Job leaves open is set by the caller") {
  const std::string contexts = R"("contexts":[{"text":"t","fields":[{"name":"n"}]}])";
  Job defaults;
  defaults.limits = {.max_new_tokens = 5, .per_field = 4};
  defaults.sampling = {.temperature = 0.5, .top_k = 3, .top_p = 0.9};
  defaults.seed = 7;
  const auto with = [&](const std::string& more) {
    return parse_job(Json::parse("{" + contexts + more + "}"), "job.json", defaults);
  };
  const Job open = with(""), said = with(R"(,"limits":{"per_field":9},"sampling":{"top_k":1})");
  CHECK(open.limits.max_new_tokens == 5);
  CHECK(open.limits.per_field == 4);
  CHECK(open.sampling.temperature == 0.5);
  CHECK(open.sampling.top_k == 3);
  CHECK(open.seed == 7);
  CHECK(said.limits.max_new_tokens == 5);
  CHECK(said.limits.per_field == 9);
  CHECK(said.sampling.top_k == 1);
  CHECK(said.sampling.top_p == 0.9);
}

TEST_CASE("fields without a name are named by their number") {
  const Job job = parse(R"({"contexts":[{"text":"t","fields":[{"question":"a"},{"name":"n"},
    {"question":"b"}]},{"text":"t","fields":[{"question":"c"}]}]})");
  std::vector<std::string> names;
  for (const Context& context : job.contexts)
    for (const Field& field : context.fields) names.push_back(field.name);
  CHECK(names == std::vector<std::string>{"q1", "n", "q3", "q1"});
}

TEST_CASE("a bad Job is refused with its place") {
  const auto wrong = [](const std::string& text, const std::string& message) {
    CHECK_THROWS_WITH(parse(text), message);
  };
  wrong("[]", "job.json: is array, expected an object");
  wrong("{}", "job.json: 'contexts' is empty, expected at least one context");
  wrong(R"({"contexts":[{"text":"t","fields":[{"name":"n"}]}],"sead":1})",
        "job.json: unknown key 'sead'; did you mean 'seed'?");
  wrong(R"({"contexts":[{"txt":"t"}]})", "job.json: 'contexts'[0]: 'text' is missing");
  Json many{{"contexts", {{{"text", "t"}, {"fields", {{{"name", "n"}}}}}}}};
  many["contexts"][0]["fields"][0]["choices"] = std::vector<std::string>(27, "x");
  wrong(
      many.dump(),
      "job.json: 'contexts'[0]: 'fields'[0]: 'choices' has 27 texts, expected at most 26 (A to Z)");
  wrong(R"({"contexts":[{"text":"t","fields":[]}]})",
        "job.json: 'contexts'[0]: 'fields' is empty, expected at least one field");
  wrong(R"({"contexts":[{"text":"t","fields":[{}]}]})",
        "job.json: 'contexts'[0]: 'fields'[0]: 'name' and 'question' are both empty, expected one "
        "of them");
  wrong(R"({"contexts":[{"text":"t","fields":[{"name":"n"},{"question":"q","name":"n"}]}]})",
        "job.json: 'contexts'[0]: 'fields'[1]: 'name': fields 1 and 2 of one context are both "
        "named 'n' (without a name, the second is q2); expected one name each");
  wrong(R"({"conversation":true,"contexts":[{"text":"t","fields":[{"name":"n"}]}]})",
        "job.json: 'contexts'[0]: 'fields'[0]: 'question' is empty, expected what the user says in "
        "this turn");
  wrong(R"({"contexts":[{"text":"t","fields":[{"name":"n"}]}],"limits":{"per_field":0}})",
        "job.json: 'limits': 'per_field' is 0, expected at least 1");
  wrong(R"({"contexts":[{"text":"t","fields":[{"name":"n"}]}],"sampling":{"temperature":-1}})",
        "job.json: temperature is -1, expected 0 (greedy) or more");
  wrong(R"({"contexts":[{"text":"t","fields":[{"name":"n"}]}],"seed":"x"})",
        "job.json: 'seed' is \"x\", expected a whole number");
}
