#include <string>

#include "judges/judge.hpp"
#include "judges/wording.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

Json polite() {
  return {{"name", "polite"},
          {"prompt", "Is this polite?\n{question}\n<{mark}>{answer}</{mark}>"},
          {"schema", object_schema({{"why", {{"type", "string"}}},
                                    {"polite", {{"type", "string"}, {"enum", {"yes", "no"}}}}})},
          {"verdict", "polite"},
          {"values", {{"yes", 1}, {"no", 0}}}};
}

JudgeProtocol load(const test::TemporaryFolder& folder, const Json& json) {
  const auto file = folder.path() / "own.json";
  write_file(file, dump(json));
  return find_protocol(file.string());
}

}  // namespace

TEST_CASE("a user's template asks in its own words and reads its verdict") {
  test::TemporaryFolder folder;
  const JudgeProtocol protocol = load(folder, polite());
  CHECK(protocol.name == "polite");
  Subject subject;
  subject.fields = {{"answer", "Tea?", {}, "Yes please.", ""}};
  subject.turn = 0;
  const Inquiry inquiry = protocol.ask(subject, Order::method_first);
  Json turned = polite();  // alphabetical here, but a user need not keep that order
  const auto file = folder.path() / "turned.json";
  write_file(file, replace_all(dump(turned),
                               "\"polite\":{\"enum\":[\"yes\",\"no\"],\"type\":\"string\"},\"why\":"
                               "{\"type\":\"string\"}",
                               "\"why\":{\"type\":\"string\"},\"polite\":{\"enum\":[\"yes\",\"no\"]"
                               ",\"type\":\"string\"}"));
  const OrderedJson sent = find_protocol(file.string()).ask(subject, Order::method_first).schema;
  CHECK(sent["properties"].begin().key() == "why");
  REQUIRE(inquiry.messages.size() == 1);
  CHECK(inquiry.messages[0].text.find("Yes please.") != std::string::npos);
  const auto read = [&](const char* reply) {
    return protocol.read(subject, Order::method_first, reply);
  };
  const Reading yes = read(R"({"why": "", "polite": "yes"})");
  REQUIRE(yes.verdicts.size() == 1);
  CHECK(yes.verdicts[0].label == "yes");
  CHECK(yes.verdicts[0].value == 1);
  CHECK_FALSE(read(R"({"polite": "yes"})").problem.empty());
  CHECK_FALSE(read(R"({"why": "", "polite": "maybe"})").problem.empty());
  const std::string first = R"(<pardec:verdict>{"why": "1", "polite": "yes"}</pardec:verdict>)",
                    same = R"(<pardec:verdict>{"why": "2", "polite": "yes"}</pardec:verdict>)",
                    other = R"(<pardec:verdict>{"why": "1", "polite": "no"}</pardec:verdict>)";
  CHECK(read((first + same).c_str()).verdicts.size() == 1);
  CHECK(read((first + other).c_str()).problem.find("contradict") != std::string::npos);
  Json changed = polite();
  changed["prompt"] = "Polite? {answer}";
  CHECK(load(folder, changed).hash != protocol.hash);
}

TEST_CASE("what a template lacks is reported before a judge is asked") {
  test::TemporaryFolder folder;
  const auto refused = [&](const char* pointer, const Json& value, const char* said) {
    Json json = polite();
    json[Json::json_pointer(pointer)] = value;
    INFO(pointer);
    CHECK_THROWS_WITH(load(folder, json), Catch::Contains(said));
  };
  refused("/prompt", "{reply}", "unknown slot");
  refused("/verdict", "kind", "expected a property");
  refused("/verdict", "why", "a string with an enum");
  refused("/values/perhaps", 0.5, "not in the enum");
  refused("/schema/required", {"polite"}, "'required'");
  refused("/schema/properties/polite/pattern", "y.*", "pattern");
  refused("/schema/properties/polite/enum", "yes", "expected a list of values of type string");
  refused("/schema/properties/polite/enum", {1, 2}, "expected a list of values of type string");
  refused("/schema/properties/why/items", 5, "belongs to an array");
  refused("/compares", true, "[\"A\", \"B\", \"tie\"]");
  refused("/promt", "x", "promt");
}
