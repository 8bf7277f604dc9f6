// Reading values and answers from generated text.
#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

using Value = std::optional<std::string>;

std::vector<Context> contexts(int products, const std::vector<std::string>& names) {
  std::vector<Context> out;
  for (int j = 0; j < products; ++j) {
    Context context;
    context.id = std::to_string(j + 1);
    for (const auto& name : names) context.fields.push_back({name, "", {}});
    out.push_back(std::move(context));
  }
  return out;
}

}  // namespace

TEST_CASE("a value is read by the rules of the assembly") {
  const std::pair<const char*, Value> cases[] = {
      {" \"Nike\",\n", "Nike"},
      {" \"Nike\"", "Nike"},
      {"\"Nike\"", "Nike"},
      {" \"Nike\" , \n", "Nike"},  // white space around the single comma
      {" \"Ni", "Ni"},             // cut at K_max: the quote is added
      {" \"", std::nullopt},       // cut after the quote: empty
      {" \"\",", std::nullopt},
      {"", std::nullopt},
      {",\n", std::nullopt},
      {"\n \"late\"", std::nullopt},  // nothing after the line break counts
      {" \"Nike\",\n    \"A2\": \"x\"", "Nike"},
      {" \"red,\n", "red"},    // no quote, one comma
      {" \"red,,\n", "red,"},  // a single comma
      {" \"a, b\",\n", "a, b"},
      {" \"say \\\"hi\\\"\",\n", "say \"hi\""},
      {" \"back\\\\slash\"\n", "back\\slash"},
      {" \"cut\\", "cut\\"},  // cut inside an escape: no JSON, taken without its quote
      {" \"\\u00e9t\\u00E9\"\n", "été"},
      {" \"\\ud83d\\ude00\"", "\U0001F600"},
      {" \"été\"", "été"},
      {" null,\n", std::nullopt},
      {" \"null\"", std::nullopt},
      {" n/a\n", std::nullopt},
      {" \"n/a\",", std::nullopt},
      {" \" n/a \",", std::nullopt},
      {" 12,\n", "12"},
      {" -3.5\n", "-3.5"},
      {" true", "true"},
      {" 12 cm,\n", "12 cm"},  // bare text
      {" bare text \n", "bare text"},
      {" Nike\",\n", "Nike"},                  // the opening quote is missing
      {" \"two\" words\",\n", "two\" words"},  // no JSON string: outer quotes go
  };
  for (const auto& [raw, value] : cases) {
    INFO("raw: [" << raw << "]");
    CHECK(parse_json_value(raw) == value);
  }
}

TEST_CASE("parse_json_value reads what json_value writes") {
  Rng rng(5);
  const std::vector<std::string> parts = {"\"", "\\", "\n",         "\t",   ",",      " ", "n/a",
                                          "é",  "漢", "\U0001F600", "a",    "7",      "{", "}",
                                          ":",  "/",  "'",          "\x7F", "\\u0041"};
  for (int round = 0; round < 2000; ++round) {
    std::string value = "x";  // a value of only white space is absent by definition
    for (std::uint64_t i = rng.below(6); i > 0; --i) value += parts[rng.below(parts.size())];
    const bool last = rng.below(2);
    const std::string written = json_value(value, last);
    INFO("written: [" << written << "]");
    REQUIRE(written.find('\n') ==
            std::string::npos);  // a line break closes a value, so it is escaped inside
    REQUIRE(parse_json_value(written + "\n") == value);
  }
  CHECK(json_value(std::nullopt, false) == " \"n/a\",");
  CHECK(json_value("a", true) == " \"a\"");
  CHECK(parse_json_value(json_value(std::nullopt, false)) == std::nullopt);
}

TEST_CASE("the skeleton is JSON as written by hand") {
  const JsonSkeleton skeleton = json_skeleton(contexts(2, {"A1", "A \"q\""}));
  CHECK(skeleton.segments ==
        std::vector<std::string>{"\n{\n  \"1\": {\n    \"A1\":", "\n    \"A \\\"q\\\"\":",
                                 "\n  },\n  \"2\": {\n    \"A1\":", "\n    \"A \\\"q\\\"\":"});
  CHECK(skeleton.tail == "\n  }\n}\n</result>");
  auto differing = contexts(2, {"A1"});
  differing[1].fields[0].name = "B1";
  CHECK_THROWS_AS(json_skeleton(differing), ConfigError);
}

TEST_CASE("an answer is read if it is whole, cut, or broken") {
  const auto two = contexts(2, {"A", "B"});
  const std::string whole =
      "\n{\n  \"1\": {\n    \"A\": \"x\",\n    \"B\": null\n  },\n  \"2\": {\n    \"A\": "
      "\"}\\\"{\",\n    \"B\": 7\n  }\n}\n</result>";
  const JsonAnswer answer = parse_json_answer(whole, two);
  CHECK(answer.parsed == std::vector<bool>{true, true});
  CHECK(answer.values == std::vector<std::vector<Value>>{{"x", std::nullopt}, {"}\"{", "7"}});

  const JsonAnswer cut = parse_json_answer(whole.substr(0, whole.find("\"B\": 7")), two);
  CHECK(cut.parsed == std::vector<bool>{true, false});
  CHECK(cut.values ==
        std::vector<std::vector<Value>>{{"x", std::nullopt}, {std::nullopt, std::nullopt}});

  const JsonAnswer none = parse_json_answer("no object at all", two);
  CHECK(none.parsed == std::vector<bool>{false, false});

  // The first object is broken, and contains text that looks like the second's key.
  const JsonAnswer second =
      parse_json_answer("{\"1\": {\"A\": \"2\" \"B\": 1}, \"2\": {\"A\": \"y\"}}", two);
  CHECK(second.parsed == std::vector<bool>{false, true});
  CHECK(second.values[1] == std::vector<Value>{"y", std::nullopt});
}
