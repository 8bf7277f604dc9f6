#include "src/prompt/json_answer.hpp"

#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

Context product(const std::string& id, const std::vector<std::string>& fields) {
  Context context{id, "Shoes", "title of " + id, {}};
  for (const auto& field : fields) context.fields.push_back({field, "", {}});
  return context;
}

}  // namespace

TEST_CASE("the skeleton of a stack is cut where values begin") {
  const JsonSkeleton skeleton =
      json_skeleton({product("a", {"A1", "A2"}), product("b", {"A1", "A2"})});
  CHECK(skeleton.segments == std::vector<std::string>{
                                 "\n{\n  \"1\": {\n    \"A1\":",
                                 "\n    \"A2\":",
                                 "\n  },\n  \"2\": {\n    \"A1\":",
                                 "\n    \"A2\":",
                             });
  CHECK(skeleton.tail == "\n  }\n}\n</result>");
  CHECK_THROWS_WITH(json_skeleton({product("a", {"A1"}), product("b", {"A2"})}),
                    "context 'b' has other fields than 'a'; a stack shares one field list");
}

TEST_CASE("a whole answer with its values is what the skeleton leaves open") {
  CHECK(json_answer({product("a", {"A1", "A2"}), product("b", {"A1", "A2"})},
                    {{"x", std::nullopt}, {"\"y\"", "z"}}) ==
        "<result>\n{\n  \"1\": {\n    \"A1\": \"x\",\n    \"A2\": \"n/a\"\n  },\n  \"2\": {\n    "
        "\"A1\": \"\\\"y\\\"\",\n    \"A2\": \"z\"\n  }\n}\n</result>");
}

TEST_CASE("a decoded value is read as its comment says") {
  CHECK(parse_json_value(" \"Nike\",") == "Nike");
  CHECK(parse_json_value(" \"Nike\"  ,\n    \"Color\": \"x\"") == "Nike");  // cut at the line break
  CHECK(parse_json_value(" \"Ni") == "Ni");  // its missing quote is added
  CHECK(parse_json_value(" \"5\\\" wide\",") == "5\" wide");
  CHECK(parse_json_value(" 42,") == "42");
  CHECK(parse_json_value(" 12.50,") == "12.50");  // numbers stay as they are written
  CHECK(parse_json_value(" 1e5") == "1e5");
  CHECK(parse_json_value(" [1, 2],") == "[1, 2]");
  CHECK(parse_json_value(" bare text,") == "bare text");
  CHECK(parse_json_value(" \"broken \\q\"") ==
        "broken \\q");  // no JSON string: its quotes are removed
  for (const char* absent :
       {"", " ", "\n", " null,", " \"n/a\",", " n/a", " \"\"", " \"", " \"null\"", ","})
    CHECK_FALSE(parse_json_value(absent).has_value());
}

TEST_CASE("values survive being written and read") {
  const std::string alphabet[] = {"a", "B", "7",  " ", "\"", "\\", ",",         ":",   "{",
                                  "}", "é", "漢", "🎈", "/",  "'",  "</result>", "n/a", "\t"};
  Rng rng(3);
  for (int round = 0; round < 500; ++round) {
    std::string value = "x";  // never absent
    for (std::uint64_t i = rng.below(12); i > 0; --i)
      value += alphabet[rng.below(std::size(alphabet))];
    value += "y";
    CHECK(parse_json_value(json_value(value, round % 2) + "\nmore") == value);
  }
  CHECK_FALSE(parse_json_value(json_value(std::nullopt, true)).has_value());
}

TEST_CASE("a single value is read unchanged") {
  CHECK(parse_plain_value(" 27\"\nAttribute: Color") == "27\"");
  CHECK(parse_plain_value("\n Nike \n") == "Nike");
  CHECK(parse_plain_value("5,") == "5,");
  for (const char* absent : {"", " \n ", "n/a", " null\n", "n/a\nmore"})
    CHECK_FALSE(parse_plain_value(absent).has_value());
}

TEST_CASE("a whole answer is read, also if it is cut or broken") {
  const std::vector<Context> contexts{product("a", {"A1", "A2"}), product("b", {"A1", "A2"})};
  const JsonSkeleton skeleton = json_skeleton(contexts);
  const std::string whole = skeleton.segments[0] + json_value("Nike", false) +
                            skeleton.segments[1] + json_value(std::nullopt, true) +
                            skeleton.segments[2] + json_value("a } { \"b\"", false) +
                            skeleton.segments[3] + json_value("7", true) + skeleton.tail;
  {
    const JsonAnswer answer = parse_json_answer(whole, contexts);
    CHECK(answer.parsed == std::vector<bool>{true, true});
    CHECK(answer.values[0][0] == "Nike");
    CHECK_FALSE(answer.values[0][1].has_value());
    CHECK(answer.values[1][0] == "a } { \"b\"");
    CHECK(answer.values[1][1] == "7");
  }
  SECTION("cut in the second product: the first is still read") {
    const JsonAnswer answer = parse_json_answer(whole.substr(0, whole.find("a }")), contexts);
    CHECK(answer.parsed == std::vector<bool>{true, false});
    CHECK(answer.values[0][0] == "Nike");
    CHECK_FALSE(answer.values[1][0].has_value());
  }
  SECTION("broken in the first product: the second is still read") {
    std::string broken = whole;
    broken.insert(broken.find("\"Nike\""), "\"");
    const JsonAnswer answer = parse_json_answer(broken, contexts);
    CHECK(answer.parsed == std::vector<bool>{false, true});
    CHECK_FALSE(answer.values[0][0].has_value());
    CHECK(answer.values[1][1] == "7");
  }
  SECTION("no JSON at all") {
    CHECK(parse_json_answer("I am sorry", contexts).parsed == std::vector<bool>{false, false});
    CHECK(parse_json_answer("", contexts).parsed == std::vector<bool>{false, false});
  }
  SECTION("other types become their text, foreign keys are ignored") {
    const JsonAnswer answer = parse_json_answer(
        "{\"1\": {\"A1\": 3.50, \"A2\": null, \"A9\": \"x\"}, \"2\": []}</result> tail", contexts);
    CHECK(answer.parsed == std::vector<bool>{true, false});
    CHECK(answer.values[0][0] == "3.50");
    CHECK_FALSE(answer.values[0][1].has_value());
  }
}
