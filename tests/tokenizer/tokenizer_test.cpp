#include "src/tokenizer/tokenizer.hpp"

#include <ctime>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/tokenizer/tiny.hpp"

using namespace pardec;
using test::spell;

TEST_CASE("merges are applied by rank, with equal rank the leftmost first") {
  const Tokenizer tokenizer = test::load(test::tiny());
  CHECK(spell(tokenizer, tokenizer.encode("abc", false)) == "▁a|bc");  // "b c" has rank 0
  CHECK(spell(tokenizer, tokenizer.encode("cab", false)) == "▁|c|ab");
  CHECK(spell(tokenizer, tokenizer.encode("baaaaa", false)) == "▁|b|aa|aa|a");
  CHECK(spell(tokenizer, tokenizer.encode("ab", false)) == "▁ab");
}

TEST_CASE("text that the vocabulary lacks becomes bytes") {
  const Tokenizer tokenizer = test::load(test::tiny());
  const Tokens ids = tokenizer.encode("é", false);
  CHECK(spell(tokenizer, ids) == "▁|<0xC3>|<0xA9>");
  CHECK(tokenizer.decode(ids, false) == "é");
  CHECK(tokenizer.decode({ids[1]}, false) == "\uFFFD");
  CHECK(tokenizer.encode("\xFF", false) == tokenizer.encode("\uFFFD", false));
}

TEST_CASE("unknown characters are fused or not, or dropped without an unknown token") {
  Json json = test::tiny();
  json["model"]["byte_fallback"] = false;
  CHECK(spell(test::load(json), test::load(json).encode("aéñb", false)) == "▁a|<unk>|b");
  json["model"]["fuse_unk"] = false;
  CHECK(spell(test::load(json), test::load(json).encode("aéñb", false)) == "▁a|<unk>|<unk>|b");
  json["model"]["unk_token"] = nullptr;
  CHECK(spell(test::load(json), test::load(json).encode("aéñb", false)) == "▁ab");
}

TEST_CASE("special tokens are found in the text, added and skipped on request") {
  const Tokenizer tokenizer = test::load(test::tiny());
  const Tokens ids = tokenizer.encode("a</s>b", true);
  CHECK(spell(tokenizer, ids) == "<s>|▁a|</s>|▁|b");
  CHECK(tokenizer.decode(ids, true) == "a b");
  CHECK(tokenizer.decode(ids, false) == "<s> a</s> b");
  CHECK(tokenizer.encode("", true) == Tokens{1});
  CHECK(tokenizer.encode("", false).empty());
}

TEST_CASE("only the first piece begins like a text") {
  const Tokenizer tokenizer = test::load(test::tiny());
  Tokens ids = tokenizer.encode_piece("ab", true);
  CHECK(spell(tokenizer, ids) == "<s>|▁ab");
  const Tokens later = tokenizer.encode_piece("ab </s>c", false);
  CHECK(spell(tokenizer, later) == "ab|▁|</s>|▁|c");
  ids.insert(ids.end(), later.begin(), later.end());
  CHECK(tokenizer.decode(ids, true) == "abab  c");
  // After an added token, text is treated as at the beginning of a text.
  CHECK(spell(tokenizer, tokenizer.encode_piece("<s>a</s>a", true)) == "<s>|<s>|▁a|</s>|▁a");
  CHECK(tokenizer.encode_piece("<s>a</s>a", true) == tokenizer.encode("<s>a</s>a", true));
}

TEST_CASE("the bytes of a token are those that it has in the middle of a text") {
  const Tokenizer tokenizer = test::load(test::tiny());
  CHECK(tokenizer.bytes(*tokenizer.id("▁ab")) == " ab");
  CHECK(tokenizer.bytes(*tokenizer.id("<0x0A>")) == "\n");
  CHECK(tokenizer.bytes(*tokenizer.id("<0xE2>")) == "\xE2");
  CHECK(tokenizer.bytes(*tokenizer.id("</s>")).empty());
  CHECK(tokenizer.bytes(-1).empty());
  CHECK(tokenizer.bytes(100000).empty());
}

TEST_CASE("ids and spellings") {
  const Tokenizer tokenizer = test::load(test::tiny());
  CHECK(tokenizer.vocab_size() == 3 + 256 + 10);
  CHECK(tokenizer.id("abc") == tokenizer.vocab_size() - 4);
  CHECK(tokenizer.id("xyz") == std::nullopt);
  CHECK(tokenizer.token(-1).empty());
  CHECK(tokenizer.token(tokenizer.vocab_size()).empty());
  CHECK(tokenizer.is_special(1));
  CHECK_FALSE(tokenizer.is_special(3));
  CHECK_FALSE(tokenizer.is_special(-5));
  CHECK(tokenizer.decode({-5, 100000, *tokenizer.id("a")}, false) == "a");
}

TEST_CASE("one tokenizer serves several threads") {
  const Tokenizer tokenizer = test::load(test::tiny());
  const std::string text = "ab abc é </s> cab " + std::string(500, 'a');
  const Tokens expected = tokenizer.encode(text, true);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) count += tokenizer.encode(text, true) != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

namespace {

/// Processor time, so that a busy machine does not matter.
double seconds_to_encode(const Tokenizer& tokenizer, const std::string& text) {
  const std::clock_t begin = std::clock();
  const Tokens ids = tokenizer.encode(text, false);
  const std::clock_t end = std::clock();
  CHECK_FALSE(ids.empty());
  return static_cast<double>(end - begin) / CLOCKS_PER_SEC;
}

std::string repeat(const std::string& part, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += part;
  return out;
}

}  // namespace

TEST_CASE("time grows linearly with the length of a text without a border") {
  for (const char* name : {"llama-2", "qwen"}) {
    const auto file = test::data(std::string("tokenizers/") + name + "/tokenizer.json");
    if (!file) return;
    const Tokenizer tokenizer = Tokenizer::load(*file);
    for (const char* part :
         {"a", " ", "1", "-", "é", "日", "e\u0301", "\u0323\u0301", "\n", "<", "ab", "theme"}) {
      const double eighth = seconds_to_encode(tokenizer, repeat(part, 1 << 17));
      const double whole = seconds_to_encode(tokenizer, repeat(part, 1 << 20));
      UNSCOPED_INFO(name << ", " << part << ": " << eighth << " s, " << whole << " s");
      CHECK(whole < .05 + 24 * eighth);
    }
  }
}
