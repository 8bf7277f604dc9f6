#include "src/serve/thought_split.hpp"

#include <string>
#include <utility>

#include "tests/support/catch.hpp"

using namespace pardec;
using namespace pardec::serve;

namespace {

using Texts = std::pair<std::string, std::string>;  // reasoning, content

/// What comes out if the text comes in pieces of so many bytes.
Texts in_pieces(const std::string& text, std::size_t size, const ThoughtReading& reading) {
  ThoughtSplit split(reading);
  Texts all;
  const auto take = [&](const ThoughtSplit::Parts& parts) {
    all.first += parts.reasoning;
    all.second += parts.content;
  };
  for (std::size_t at = 0; at < text.size(); at += size) take(split.add(text.substr(at, size)));
  take(split.finish());
  return all;
}

/// The same for pieces of all sizes.
void check(const std::string& text, const Texts& wanted, const ThoughtReading& reading = {}) {
  for (std::size_t size = 1; size <= text.size() + 1; ++size) {
    INFO(text << ", pieces of " << size);
    CHECK(in_pieces(text, size, reading) == wanted);
  }
}

}  // namespace

TEST_CASE("reasoning is separated from the answer, however it comes") {
  check("<think>a < b</think>\n\nThe answer", {"a < b", "The answer"});
  check("  <think>a</think>b", {"a", "b"});
  check("[THINK]a</think>b[/THINK] c", {"a</think>b", "c"});
  check("<think>never ends </thin", {"never ends </thin", ""});
  check("no <think>a</think>", {"", "no <think>a</think>"});
  check("<thi", {"", "<thi"});
  check("<b>x</b>", {"", "<b>x</b>"});
  check("", {"", ""});
}

TEST_CASE("reasoning that the prompt opened has only an end") {
  ThoughtReading opened;
  opened.opened = true;
  check("a</think>b", {"a", "b"}, opened);
  check("a", {"a", ""}, opened);
}

TEST_CASE("kept reasoning is part of the answer") {
  ThoughtReading kept;
  kept.keep = true;
  check("<think>a</think>b", {"", "<think>a</think>b"}, kept);
}
