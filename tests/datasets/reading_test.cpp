// Lines and their faults, with a dataset that consists of nothing else (cip).
#include <fstream>

#include "datasets/reading.hpp"
#include "tests/datasets/files.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

const std::string kLine = R"({"prompt":"p","response":"r"})";

Inspection inspect(const std::string& content, std::size_t examples) {
  Inspection found;
  CHECK(DataFolder({{"test.jsonl", content}}).load("cip", "", &found).examples.size() == examples);
  return found;
}

}  // namespace

TEST_CASE("every bad line is found, and the others are read", "[datasets]") {
  const Inspection found = inspect(
      kLine + "\n[1]\n" + kLine + "\n\n" + R"({"prompt":"p"})" + "\n" + kLine + "\n{\"prompt\":",
      3);
  REQUIRE(found.faults.size() == 3);
  CHECK_THAT(found.faults[0], Catch::Contains("test.jsonl:2: is array, expected an object"));
  CHECK_THAT(found.faults[1], Catch::Contains("test.jsonl:5: has no 'response'"));
  CHECK_THAT(found.faults[2], Catch::Contains("test.jsonl:7: is not valid JSON: the text ends"));
  REQUIRE(found.notes.size() == 1);
  CHECK_THAT(found.notes[0], Catch::Contains("test.jsonl:4: is empty, and ignored"));
}

TEST_CASE("byte order mark and CRLF are notes, not faults", "[datasets]") {
  const Inspection found = inspect("\xEF\xBB\xBF" + kLine + "\r\n" + kLine + "\r\n\r\n", 2);
  CHECK(found.faults.empty());
  REQUIRE(found.notes.size() == 2);
  CHECK_THAT(found.notes[0], Catch::Contains("byte order mark"));
  CHECK_THAT(found.notes[1], Catch::Contains("CRLF"));
  CHECK(inspect(kLine, 1).notes.empty());
}

TEST_CASE("invalid UTF-8 and repeated keys are faults", "[datasets]") {
  CHECK_THAT(inspect("{\"prompt\":\"\xFF\",\"response\":\"r\"}", 0).faults.at(0),
             Catch::Contains(":1: is not valid JSON"));
  CHECK_THAT(inspect(R"({"prompt":"p","prompt":"q","response":"r"})", 0).faults.at(0),
             Catch::Contains(":1: key 'prompt' occurs twice"));
  CHECK_THAT(inspect("", 0).faults.at(0), Catch::Contains("has no record"));
  CHECK_THAT(inspect("\n\n", 0).faults.at(0), Catch::Contains("has no record"));
}

TEST_CASE("a line of 100 MB is refused without being kept, and the next one is read",
          "[datasets]") {
  const DataFolder files({});
  {
    std::ofstream out(files.path() / "test.jsonl", std::ios::binary);
    const std::string piece(1 << 20, 'x');
    out << R"({"prompt":")";
    for (int i = 0; i < 100; ++i) out << piece;
    out << "\",\"response\":\"r\"}\n" << kLine << "\n";
  }
  files.check_fault("cip", "test.jsonl:1: is longer than 64 MiB");
  Inspection found;
  CHECK(files.load("cip", "", &found).examples.size() == 1);
  CHECK(found.faults.size() == 1);
}

TEST_CASE("a line of exactly the longest length is read", "[datasets]") {
  const std::string ends = R"({"prompt":"","response":"r"})";
  const DataFolder files({});
  const std::string text(kLongestLine - ends.size(), 'x');
  {
    std::ofstream out(files.path() / "test.jsonl", std::ios::binary);
    out << R"({"prompt":")" << text << R"(","response":"r"})"
        << "\n";
  }
  CHECK(files.load("cip").examples[0].fields[0].question.size() == text.size());
}
