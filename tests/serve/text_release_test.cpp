#include "src/serve/text_release.hpp"

#include <algorithm>

#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using pardec::serve::TextRelease;

TEST_CASE("a character and the beginning of a stop string are held back") {
  TextRelease text({"END", "\n\n"});
  CHECK(text.add("a\xC3") == "a");
  CHECK(text.add("\xA9") == "\xC3\xA9");
  CHECK(text.add("E") == "");
  CHECK(text.add("N") == "");
  CHECK(text.add("X\n") == "ENX");
  CHECK(!text.stopped());
  CHECK(text.add("EN") == "\n");
  CHECK(text.add("D of it") == "");
  CHECK(text.stopped());
  CHECK(text.add("more") == "");
  CHECK(text.finish() == "");
}

TEST_CASE("what is held back at the end comes out") {
  TextRelease text({"END"});
  CHECK(text.add("aEN") == "a");
  CHECK(text.finish() == "EN");
  TextRelease half;
  CHECK(half.add("a\xE2\x82") == "a");
  CHECK(half.finish() == "\xEF\xBF\xBD");
}

TEST_CASE("of two stop strings in one piece, the one that is complete first ends the text") {
  TextRelease text({"abc", "b"});
  CHECK(text.add("xabc") == "xa");
  CHECK(text.stopped());
}

TEST_CASE("however the bytes are divided, the text is the same") {
  // Bytes that make characters, halves of them and stop strings likely; the truth is a search in
  // the whole.
  const std::string alphabet = "ab\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF";
  Rng rng(5);
  const auto random_text = [&](std::uint64_t most) {
    std::string text;
    for (std::uint64_t n = rng.below(most) + 1; n > 0; --n)
      text += alphabet[rng.below(alphabet.size())];
    return text;
  };
  int stopped = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::string> stops;
    for (std::uint64_t n = rng.below(3); n > 0; --n)
      stops.push_back(std::string(rng.below(3) + 1, 'a') + std::string(rng.below(2), 'b'));
    const std::string bytes = random_text(30);
    // The text ends at the stop string that is complete first.
    std::size_t end = bytes.size();
    bool stops_here = false;
    for (std::size_t size = 1; size <= bytes.size() && !stops_here; ++size)
      for (const std::string& stop : stops)
        if (bytes.substr(0, size).ends_with(stop)) {
          end = stops_here ? std::min(end, size - stop.size()) : size - stop.size();
          stops_here = true;
        }
    TextRelease release(stops);
    std::string text;
    for (char byte : bytes) text += release.add({&byte, 1});
    text += release.finish();
    INFO(round);
    REQUIRE(release.stopped() == stops_here);
    REQUIRE(text == repair_utf8(bytes.substr(0, end)));
    stopped += stops_here;
    TextRelease pieces(stops);
    std::string joined;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = rng.below(5) + 1;
      joined += pieces.add(std::string_view(bytes).substr(at, size));
      at += size;
    }
    REQUIRE(joined + pieces.finish() == text);
  }
  CHECK(stopped > 1000);
}
