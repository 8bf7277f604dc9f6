#include "src/support/text.hpp"

#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/support/rng.hpp"
#include "src/support/utf8.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("invalid UTF-8 is repaired as with Python's errors='replace'") {
  CHECK(repair_utf8("plain é ▁ 𝄞") == "plain é ▁ 𝄞");
  CHECK(repair_utf8("a\xFF"
                    "b") == "a\uFFFDb");
  CHECK(repair_utf8("\xE2\x96") == "\uFFFD");  // a cut sequence is one mark
  CHECK(repair_utf8("\xE2\x96z") == "\uFFFDz");
  CHECK(repair_utf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD");  // a surrogate: every byte alone
  CHECK(repair_utf8("\xC0\xAF") == "\uFFFD\uFFFD");            // overlong
  CHECK(repair_utf8("\xF4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST_CASE("control and direction characters never reach a terminal") {
  CHECK(visible_text("a\x1B[2Jb") == "a·[2Jb");
  CHECK(visible_text(std::string_view("a\0b", 3)) == "a·b");
  CHECK(visible_text("\xC2\x9B"
                     "31m \x7F\r") == "·31m ··");  // the one-byte CSI of C1
  CHECK(visible_text("a\u202Eb\u2066c\u2069") == "a·b·c·");
  CHECK(visible_text("a\nb\tc") == "a↵b·c");
  CHECK(visible_text("a\nb\tc\x1B", true) == "a\nb\tc·");
  CHECK(visible_text("Größe \u00A0 ▁ 𝄞 \u2013 \u2065") == "Größe \u00A0 ▁ 𝄞 \u2013 \u2065");
  CHECK(visible_text("\xC2") == "\uFFFD");
}

TEST_CASE("a text is shortened in whole characters") {
  CHECK(shortened("twelve", 6) == "twelve");
  CHECK(shortened("twelve", 5) == "twelv...");
  CHECK(shortened("zwölf", 3) == "zw...");  // the "ö" has bytes 2 and 3
  CHECK(shortened("zwölf", 4) == "zwö...");
  CHECK(shortened("ö", 1) == "...");
}

TEST_CASE("an unknown name is answered with similar names, otherwise with all") {
  CHECK(known_names("hdp", {"ar", "hpd", "ippd"}) == "; did you mean 'hpd'?");
  CHECK(known_names("medusa", {"ar", "hpd"}) == "; known: ar, hpd");
  CHECK(known_names("hdp", {"hpd", "ar", "hpd"}) == "; did you mean 'hpd'?");
  CHECK(known_names("medusa", {"ar", "hpd", "ar"}) == "; known: ar, hpd");
  CHECK(known_names("--modle", {"--wide", "--judge", "--model"}) == "; did you mean '--model'?");
  CHECK(known_names("--modell", {"--wide", "--modes", "--model"}) ==
        "; did you mean '--model' or '--modes'?");
}

TEST_CASE("a JSON reader refuses wrong types and unknown keys") {
  const Json json = {{"limit", 3}, {"name", 7}, {"sed", 1}};
  JsonReader read(json, "job.json");
  CHECK(read.required<int>("limit") == 3);
  CHECK_THROWS_WITH(read.required<std::string>("name"), "job.json: 'name' is 7, expected a string");
  CHECK(read.optional<int>("seed", 5) == 5);
  CHECK_THROWS_WITH(read.finish(), "job.json: unknown key 'sed'; did you mean 'seed'?");
}

TEST_CASE("JSON that is nested too deeply is refused at the place where it becomes so") {
  const auto nested = [](int levels, const char* open, const char* close) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += open;
    for (int i = 0; i < levels; ++i) text += close;
    return text;
  };
  CHECK_NOTHROW(parse_json(nested(kDeepestJson, "[", "]"), "x.json", 0));
  CHECK_THROWS_WITH(parse_json("\n" + nested(kDeepestJson + 1, "[", "]"), "x.json", 0),
                    "x.json:2: is nested too deeply at column 513; expected at most 512 levels");
  CHECK_THROWS_WITH(parse_json(nested(500000, "{\"a\":[", "]}"), "x.jsonl", 7),
                    Catch::StartsWith("x.jsonl:7: is nested too deeply"));
  // Brackets in texts do not count.
  CHECK_NOTHROW(parse_json("[\"" + std::string(1000, '[') + "\\\"[\"]", "x.json", 0));
}

TEST_CASE("a JSON syntax error names its line") {
  CHECK_THROWS_WITH(parse_json("{\n\"a\": 1,\n \"b\": }", "x.json", 0),
                    Catch::Contains("x.json:3: is not valid JSON"));
  CHECK_THROWS_WITH(parse_json("{\"a\": ", "x.jsonl", 12),
                    Catch::Contains("x.jsonl:12: is not valid JSON: the text ends"));
  CHECK_THROWS_WITH(parse_json("[9e99999]", "x.json", 0),
                    Catch::Contains("x.json") && Catch::Contains("a number that no double holds"));
}

TEST_CASE("the generator is the published one") {
  // xoshiro256** seeded by splitmix64(0): first outputs, from the reference C code.
  Rng rng(0);
  CHECK(rng.next() == 11091344671253066420u);
  CHECK(rng.next() == 13793997310169335082u);
  CHECK(derive_seed(1, "a") != derive_seed(1, "b"));
}

TEST_CASE("the finished part of a text has no partial character, and does not change") {
  CHECK(finished_utf8("") == 0);
  CHECK(finished_utf8("a\xC3") == 1);
  CHECK(finished_utf8("a\xC3\xA9") == 3);
  CHECK(finished_utf8("\xF0\x9F\x98") == 0);
  CHECK(finished_utf8("\xF0\x9F\x98\x80") == 4);
  CHECK(finished_utf8("\x80\x80\x80\x80") == 4);
  Rng rng(3);
  const std::string_view bytes = "ab\x80\xBF\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\xFF";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    std::string shown;
    for (int i = 0; i < 12; ++i) {
      text += bytes[rng.below(bytes.size())];
      const std::string now = repair_utf8(text.substr(0, finished_utf8(text)));
      REQUIRE(now.starts_with(shown));
      shown = now;
    }
    CHECK(repair_utf8(text).starts_with(shown));
  }
}
