// The reader that keeps the order of keys, compared with nlohmann's own, which it must equal.
#include "src/support/json.hpp"

#include <unistd.h>

#include <fstream>

#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

struct WrittenFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / str("pardec-json-", ::getpid(), ".json");
  explicit WrittenFile(const std::string& text) { std::ofstream(path) << text; }
  ~WrittenFile() { std::filesystem::remove(path); }
};

OrderedJson read(const std::string& text) { return read_ordered_json(WrittenFile(text).path); }

/// A random value; keys repeat within an object.
std::string random_json(Rng& rng, int depth) {
  const auto kind = rng.below(depth > 0 ? 9 : 7);
  const auto list = [&](const auto& item) {
    std::vector<std::string> all;
    for (std::uint64_t i = rng.below(6); i > 0; --i) all.push_back(item());
    return join(all, ", ");
  };
  switch (kind) {
    case 0:
      return "null";
    case 1:
      return rng.below(2) ? "true" : "false";
    case 2:
      return str(static_cast<std::int64_t>(rng.below(2000)) - 1000);
    case 3:
      return "18446744073709551615";
    case 4:
      return "-1.5e-3";
    case 5:
      return R"("a \"text\" é \u00e9\n")";
    case 6:
      return "\"\"";
    case 7:
      return "[" + list([&] { return random_json(rng, depth - 1); }) + "]";
    default:
      return "{" +
             list([&] { return str("\"k", rng.below(4), "\": ", random_json(rng, depth - 1)); }) +
             "}";
  }
}

}  // namespace

TEST_CASE("the reader that keeps the order of keys equals nlohmann's, also with repeated keys") {
  Rng rng(7);
  for (int i = 0; i < 3000; ++i) {
    const std::string text = random_json(rng, 5);
    CHECK(read(text).dump() == OrderedJson::parse(text).dump());
  }
  CHECK(read(R"({"b": 1, "a": {"x": [1]}, "b": {"c": 2}})").dump() ==
        R"({"b":{"c":2},"a":{"x":[1]}})");
}

TEST_CASE("invalid JSON is reported with its line by every reader") {
  for (const char* text : {"", "{", "[1,]", "{\"a\": 1\n \"b\": 2}", "{} {}", "nul", "\"\xFF\""}) {
    const WrittenFile file(text);
    std::string ordered, sorted;
    try {
      read_ordered_json(file.path);
    } catch (const DataError& error) {
      ordered = error.what();
    }
    try {
      read_json(file.path);
    } catch (const DataError& error) {
      sorted = error.what();
    }
    CHECK(!ordered.empty());
    CHECK(ordered == sorted);
  }
  CHECK_THROWS_WITH(read("[1e999]"), Catch::Contains("a number that no double holds"));
}

TEST_CASE("an object of many keys is read in one pass") {
  std::string text = "{";
  constexpr int kKeys = 300'000;  // nlohmann's own reader takes minutes
  for (int i = 0; i < kKeys; ++i) text += str(i ? "," : "", "\"token", i, "\":", i);
  const OrderedJson read_back = read(text + "}");
  CHECK(read_back.size() == kKeys);
  CHECK(std::prev(read_back.end()).key() == str("token", kKeys - 1));
}
