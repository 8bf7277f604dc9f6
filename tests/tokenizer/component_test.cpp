#include "src/tokenizer/byte_level.hpp"
#include "src/tokenizer/decoder.hpp"
#include "src/tokenizer/nfc.hpp"
#include "src/tokenizer/normalizer.hpp"
#include "src/tokenizer/pre_tokenizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/tokenizer/tiny.hpp"

using namespace pardec;
using test::spell;

namespace {

/// The words that a pre-tokenizer makes of a text, joined by "|".
std::string words(const char* json, const std::string& text, bool at_start = true,
                  bool prefix = true) {
  std::vector<Word> parts{{text, at_start}};
  read_pre_tokenizer(Json::parse(json), "pre_tokenizer")->apply(parts, prefix);
  std::string out;
  for (const Word& word : parts) out += (out.empty() ? "" : "|") + word.text;
  return out;
}

std::string split(const char* behavior, bool invert = false) {
  return words(Json{{"type", "Split"},
                    {"pattern", {{"String", "-"}}},
                    {"behavior", behavior},
                    {"invert", invert}}
                   .dump()
                   .c_str(),
               "-a--b-");
}

std::string decoded(const char* json, std::vector<std::string> tokens) {
  read_decoder(Json::parse(json), "decoder")->apply(tokens);
  std::string out;
  for (const std::string& token : tokens) out += (out.empty() ? "" : "|") + token;
  return out;
}

}  // namespace

TEST_CASE("Split treats what it finds in five ways") {
  CHECK(split("Removed") == "a|b");
  CHECK(split("Isolated") == "-|a|-|-|b|-");
  CHECK(split("MergedWithPrevious") == "-|a-|-|b-");
  CHECK(split("MergedWithNext") == "-a|-|-b|-");
  CHECK(split("Contiguous") == "-|a|--|b|-");
  CHECK(split("Removed", true) == "-|-|-|-");
}

TEST_CASE("Metaspace writes spaces as a mark and may put one in front") {
  const char* always =
      R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true})";
  const char* first =
      R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false})";
  const char* old = R"({"type": "Metaspace", "replacement": "▁", "add_prefix_space": false})";
  CHECK(words(always, "a  b") == "▁a|▁|▁b");
  CHECK(words(always, " a") == "▁a");
  CHECK(words(always, "a", true, false) == "a");
  CHECK(words(first, "a b") == "▁a▁b");
  CHECK(words(first, "a b", false) == "a▁b");
  CHECK(words(old, "a b") == "a|▁b");
}

TEST_CASE("ByteLevel cuts as GPT-2 and writes visible characters") {
  const char* gpt2 =
      R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true})";
  const char* plain =
      R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})";
  CHECK(words(gpt2, "it's 12  é\n") == "Ġit|'s|Ġ12|Ġ|ĠÃ©|Ċ");
  CHECK(words(gpt2, "a", true, false) == "a");
  CHECK(words(plain, "a b") == "aĠb");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    CHECK(from_byte_level(to_byte_level(one)) == one);
  }
  CHECK(from_byte_level("日") == std::nullopt);
}

TEST_CASE("NFC is that of Unicode 9") {
  CHECK(nfc("plain") == "plain");
  CHECK(nfc("e\u0301 \u212B") == "é Å");
  CHECK(nfc("q\u0307\u0323") == "q\u0323\u0307");
  CHECK(nfc("\u1100\u1161\u11A8") == "각");
  CHECK(nfc("\U00011935\U00011930") == "\U00011935\U00011930");  // composes since Unicode 13
  CHECK(nfc("a\u0345\u08D3\u0334") == "a\u0345\u08D3\u0334");    // U+08D3: a mark since Unicode 11
}

TEST_CASE("decoders") {
  CHECK(decoded(R"({"type": "ByteFallback"})",
                {"a", "<0xC3>", "<0xA9>", "b", "<0xC3>", "<0xC3>"}) == "a|é|b|\uFFFD|\uFFFD");
  CHECK(decoded(R"({"type": "Strip", "content": " ", "start": 1, "stop": 2})", {"  a ", "b   "}) ==
        " a|b ");
  CHECK(decoded(R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"})",
                {"▁a▁b", "▁c"}) == "ab| c");
  CHECK(decoded(R"({"type": "ByteLevel"})", {"Ġa", "Ã", "©", "Ã", "日"}) == " aé\uFFFD日");
  CHECK(
      decoded(
          R"({"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"Regex": "a+"}, "content": "x"},
                   {"type": "Fuse"}]})",
          {"aab", "a"}) == "xbx");
}

TEST_CASE("added tokens: single words, white space around, normalised text") {
  Json json = test::tiny();
  const auto spelled = [&](Json flags, const char* text) {
    Json token = {{"id", 269}, {"content", "c"}};
    token.update(flags);
    json["added_tokens"][3] = token;
    const Tokenizer tokenizer = test::load(json);
    return spell(tokenizer, tokenizer.encode(text, false));
  };
  json["model"]["vocab"].erase("c");
  json["model"]["vocab"].erase("bc");
  json["model"]["vocab"].erase("abc");
  json["model"]["merges"] = Json::array();
  json["normalizer"] = nullptr;
  json["added_tokens"][3] = nullptr;
  Json& vocab = json["model"]["vocab"];
  vocab["bd"] = 263;  // keeps the ids whole
  vocab["be"] = 262;
  vocab["bf"] = 265;
  vocab["ab"] = 264;
  CHECK(spelled({{"normalized", false}}, "acb c") == "a|c|b|<0x20>|c");
  CHECK(spelled({{"single_word", true}}, "ac c") == "a|<0x63>|<0x20>|c");
  CHECK(spelled({{"lstrip", true}}, "a  c b") == "a|c|<0x20>|b");
  CHECK(spelled({{"rstrip", true}}, "a c\u3000\nb") == "a|<0x20>|c|b");
  json["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", "c"}}}, {"content", "é"}};
  CHECK(spelled({{"normalized", true}}, "ac") == "a|c");
  CHECK(spelled({{"normalized", true}}, "aé") == "a|c");
  CHECK(spelled({{"normalized", false}}, "aé") == "a|<0xC3>|<0xA9>");
}

TEST_CASE("a whole word of the vocabulary may skip the merges") {
  Json json = test::tiny();
  json["normalizer"] = nullptr;
  CHECK(spell(test::load(json), test::load(json).encode("abc", false)) == "abc");  // by "a bc"
  json["model"]["merges"] = {"a b"};
  CHECK(spell(test::load(json), test::load(json).encode("abc", false)) == "ab|c");
  json["model"]["ignore_merges"] = true;
  CHECK(spell(test::load(json), test::load(json).encode("abc", false)) == "abc");
}

TEST_CASE("a template may end a text, inside a Sequence too") {
  Json json = test::tiny();
  Json& single = json["post_processor"]["single"];
  single.push_back({{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}});
  json["post_processor"] = {{"type", "Sequence"},
                            {"processors", {{{"type", "ByteLevel"}}, json["post_processor"]}}};
  const Tokenizer tokenizer = test::load(json);
  CHECK(spell(tokenizer, tokenizer.encode("a", true)) == "<s>|▁a|<s>");
  CHECK(spell(tokenizer, tokenizer.encode_piece("a", true)) == "<s>|▁a");
}
