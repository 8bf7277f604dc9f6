#include "datasets/attribute_extraction.hpp"

#include <string>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "tests/datasets/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using pardec::test::names;
using Texts = std::vector<std::string>;

namespace {

const std::string kTrain =
    R"({"input": "Orm Mug, 350 ml", "category": "Mug", "target_scores": {"Volume": {"350 ml": 1}, "Brand": {"Orm": 1}}})"
    "\n"
    R"({"input": "Bel Lamp", "category": "Lamp", "target_scores": {"Brand": {"Bel": 1}}})"
    "\n"
    R"({"input": "Red Mug", "category": "Mug", "target_scores": {"Brand": {"n/a": 1}, "Color": {"Red": 1}}})"
    "\n";

/// A dataset folder with the given files.
class Files {
 public:
  explicit Files(const std::string& test, const std::string& train = kTrain) {
    write_file(folder_.path() / "train.jsonl", train);
    write_file(folder_.path() / "test.jsonl", test);
  }
  Dataset load(std::string_view split = "test") const {
    return load_attribute_extraction("mugs", folder_.path(), split);
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

std::string record(const std::string& scores, const std::string& category = "Mug") {
  return R"({"input": "A mug", "category": ")" + category + R"(", "target_scores": )" + scores +
         "}\n";
}

void check_fault(const std::string& test, const std::string& message) {
  INFO(test);
  const Files files(test);
  CHECK_THROWS_AS(files.load(), DataError);
  CHECK_THROWS_WITH(files.load(),
                    Catch::Contains((files.path() / "test.jsonl").string() + message));
}

}  // namespace

TEST_CASE("fields are the category's attributes of train, in order of first appearance",
          "[datasets]") {
  const Dataset train = Files(record(R"({"Color": {"Blue": 1}})")).load("train");
  REQUIRE(train.examples.size() == 3);
  CHECK(names(train.examples[0]) == Texts{"Volume", "Brand", "Color"});
  CHECK(names(train.examples[1]) == Texts{"Brand"});
  CHECK(names(train.examples[2]) == Texts{"Volume", "Brand", "Color"});
  CHECK(train.name == "mugs");
  CHECK(train.split == "train");
  CHECK_FALSE(train.sample);
  CHECK(train.files.size() == 1);
  CHECK(train.examples[0].category == "Mug");
  CHECK(train.examples[0].text == "Orm Mug, 350 ml");
  CHECK(train.examples[1].id == "train-1");
}

TEST_CASE("annotated, absent and not annotated values are distinguished", "[datasets]") {
  const Dataset train = Files(record(R"({"Color": {"Blue": 1}})")).load("train");
  const auto& fields = train.examples[2].fields;  // Volume, Brand, Color
  CHECK_FALSE(fields[0].annotated);
  CHECK(fields[0].references.empty());
  CHECK(fields[1].annotated);
  CHECK(fields[1].references.empty());
  CHECK(fields[2].annotated);
  CHECK(fields[2].references == Texts{"Red"});
  CHECK(fields[2].question.empty());
  CHECK(fields[2].choices.empty());
}

TEST_CASE("an attribute or category that only the split has comes after those of train",
          "[datasets]") {
  const Dataset test = Files(record(R"({"Handle": {"Two": 1}, "Color": {"Blue": 1}})") +
                             record(R"({"Power": {"9 W": 1}})", "Kettle"))
                           .load();
  CHECK(names(test.examples[0]) == Texts{"Volume", "Brand", "Color", "Handle"});
  CHECK(names(test.examples[1]) == Texts{"Power"});
  CHECK(test.files.size() == 2);
}

TEST_CASE("references are stripped and distinct, in the file's order", "[datasets]") {
  const auto references = [](const std::string& values) {
    return Files(record(R"({"Color": )" + values + "}")).load().examples[0].fields[2].references;
  };
  CHECK(references(R"({"Teal ": 1, " Blue": 1, "Blue": 1, "Aqua": 1})") ==
        Texts{"Teal", "Blue", "Aqua"});
  CHECK(references(R"({"n/a": 1, "Blue": 1})").empty());  // its first item decides
  CHECK(references(R"({" n/a": 1})").empty());
  CHECK(references(R"({"Blue": 1, "n/a": 1, "Teal": 1})") == Texts{"Blue", "Teal"});
  CHECK(references(R"({"Blue": 1.0})") == Texts{"Blue"});
}

TEST_CASE("examples with the same title share a cluster", "[datasets]") {
  const std::string spaced =
      R"({"input": " A mug ", "category": "Mug", "target_scores": {"Color": {"Red": 1}}})";
  const std::string other =
      R"({"input": "a mug", "category": "Mug", "target_scores": {"Color": {"Red": 1}}})";
  const auto examples =
      Files(record(R"({"Color": {"Red": 1}})") + spaced + "\n" + other).load().examples;
  REQUIRE(examples.size() == 3);
  CHECK(examples[0].cluster == examples[1].cluster);
  CHECK(examples[0].cluster != examples[2].cluster);
  CHECK(examples[1].text == " A mug ");
}

TEST_CASE(
    "byte order mark, CRLF, missing last line end, empty lines at the end and additional keys are "
    "accepted",
    "[datasets]") {
  const std::string one =
      R"({"input": "A", "category": "Mug", "target_scores": {"Color": {"Red": 1}}})";
  const std::string two =
      R"({"id": 7, "input": "B", "category": "Mug", "target_scores": {"Color": {"Red": 1}}})";
  for (const auto& text : {one + "\n" + two, "\xEF\xBB\xBF" + one + "\r\n" + two + "\r\n",
                           one + "\n" + two + "\n\n \r\n\n", "\n" + one + "\n \n\n" + two}) {
    INFO(text);
    const auto examples = Files(text).load().examples;
    REQUIRE(examples.size() == 2);
    CHECK(examples[0].text == "A");
    CHECK(examples[1].id == "test-1");
    CHECK(examples[1].fields[2].references == Texts{"Red"});
  }
}

TEST_CASE("a bad line is named with file and line", "[datasets]") {
  const std::string good = record(R"({"Color": {"Red": 1}})");
  check_fault(good + "{\"input\": \"A\",, }\n", ":2: is not valid JSON");
  check_fault(good + good.substr(0, good.size() / 2),
              ":2: is not valid JSON: the text ends");  // truncated file
  check_fault(good + "\xFF\n", ":2: is not valid JSON");
  check_fault("[1]\n", ":1: is array, expected an object");
  check_fault(R"({"category": "Mug", "target_scores": {"Color": {"Red": 1}}})",
              ":1: has no 'input'");
  check_fault(R"({"input": "A", "target_scores": {"Color": {"Red": 1}}})", ":1: has no 'category'");
  check_fault(R"({"input": "A", "category": "Mug"})", ":1: has no 'target_scores'");
  check_fault(R"({"input": 3, "category": "Mug", "target_scores": {"Color": {"Red": 1}}})",
              ":1: 'input' is number");
  check_fault(R"({"input": " ", "category": "Mug", "target_scores": {"Color": {"Red": 1}}})",
              ":1: 'input' is empty");
  check_fault(R"({"input": "A", "category": "", "target_scores": {"Color": {"Red": 1}}})",
              ":1: 'category' is empty");
  check_fault(record("[]"), ":1: 'target_scores' is empty");
  check_fault(record("{}"), ":1: 'target_scores' is empty");
  check_fault(record("\"x\""), ":1: 'target_scores' is string");
  check_fault(record(R"({"Color": {}})"), ":1: attribute 'Color' is empty");
  check_fault(record(R"({"Color": "Red"})"), ":1: attribute 'Color' is string");
  check_fault(record(R"({"Color": null})"), ":1: attribute 'Color' is");
  check_fault(record(R"({" ": {"Red": 1}})"),
              ":1: 'target_scores' has an attribute without a name");
  check_fault(record(R"({"Color": {" ": 1}})"), ":1: attribute 'Color' has a blank value");
  check_fault(record(R"({"Color": {"Red": 0}})"),
              ":1: attribute 'Color', value 'Red' has score 0, expected 1");
  check_fault(record(R"({"Color": {"Red": true}})"),
              ":1: attribute 'Color', value 'Red' has score true");
}

TEST_CASE("a key that occurs twice in one object is an error", "[datasets]") {
  check_fault(record(R"({"Color": {"Red": 1}, "Brand": {"Orm": 1}, "Color": {"Blue": 1}})"),
              ":1: key 'Color' occurs twice");
  check_fault(record(R"({"Color": {"Red": 1, "Red": 1}})"), ":1: key 'Red' occurs twice");
  check_fault(
      R"({"input": "A", "input": "B", "category": "Mug", "target_scores": {"Color": {"Red": 1}}})",
      ":1: key 'input' occurs twice");
  CHECK_NOTHROW(
      Files(record(R"({"Color": {"Red": 1}, "Brand": {"Red": 1}})")).load());  // in two objects
}

TEST_CASE("a fault in train is reported as one", "[datasets]") {
  const Files files(record(R"({"Color": {"Red": 1}})"), kTrain + "{\n");
  CHECK_THROWS_WITH(files.load(), Catch::Contains("train.jsonl:4: is not valid JSON"));
}

TEST_CASE("an empty file, a missing file and an unknown split are errors", "[datasets]") {
  check_fault("", ": has no record");
  check_fault("\n\n", ": has no record");
  check_fault("\xEF\xBB\xBF\n", ": has no record");
  const Files files(record(R"({"Color": {"Red": 1}})"));
  CHECK_THROWS_AS(files.load("dev"), ConfigError);
  CHECK_THROWS_WITH(files.load("tst"), Catch::Contains("no split 'tst'; did you mean 'test'?"));
  std::filesystem::remove(files.path() / "test.jsonl");
  CHECK_THROWS_AS(files.load(), ConfigError);
  CHECK_THROWS_WITH(files.load(), Catch::Contains("test.jsonl is missing"));
  CHECK_NOTHROW(files.load("train"));
  std::filesystem::remove(files.path() / "train.jsonl");
  CHECK_THROWS_WITH(files.load(),
                    Catch::Contains("train.jsonl is missing (each category's attributes"));
}
