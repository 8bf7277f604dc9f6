#include "src/tokenizer/byte_level.hpp"
#include "src/tokenizer/decoder.hpp"
#include "src/tokenizer/normal_form.hpp"
#include "src/tokenizer/normalizer.hpp"
#include "src/tokenizer/pre_tokenizer.hpp"
#include "tests/support/catch.hpp"
#include "tests/tokenizer/tiny.hpp"

using namespace pardec;
using test::spell;

namespace {

Stretch stretch(const std::string& text) { return Stretch::of_input(text, 0, text.size()); }

std::string joined(const std::vector<Stretch>& parts) {
  std::string out;
  for (const Stretch& part : parts) out += (out.empty() ? "" : "|") + part.text;
  return out;
}

/// The words that a pre-tokenizer makes of a text, joined by "|".
std::string words(const char* json, const std::string& text, Place place = Place::whole) {
  std::vector<Stretch> parts{stretch(text)};
  read_pre_tokenizer(Json::parse(json), "pre_tokenizer")->apply(parts, place);
  return joined(parts);
}

/// What a normalizer makes of a text.
std::string normal(const char* json, const std::string& text, Place place = Place::whole) {
  Stretch out = stretch(text);
  read_normalizer(Json::parse(json), "normalizer")->apply(out, place);
  return out.text;
}

std::string form(NormalForm name, const std::string& text) {
  Stretch out = stretch(text);
  normalize(out, name);
  return out.text;
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

TEST_CASE("Split has five ways to treat what it finds") {
  CHECK(split("Removed") == "a|b");
  CHECK(split("Isolated") == "-|a|-|-|b|-");
  CHECK(split("MergedWithPrevious") == "-|a-|-|b-");
  CHECK(split("MergedWithNext") == "-a|-|-b|-");
  CHECK(split("Contiguous") == "-|a|--|b|-");
  CHECK(split("Removed", true) == "-|-|-|-");
}

TEST_CASE("Metaspace writes spaces as a mark, and may add one at the front") {
  const char* always =
      R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true})";
  const char* first =
      R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false})";
  const char* old = R"({"type": "Metaspace", "replacement": "▁", "add_prefix_space": false})";
  CHECK(words(always, "a  b") == "▁a|▁|▁b");
  CHECK(words(always, " a") == "▁a");
  CHECK(words(always, "a", Place::later) == "a");
  CHECK(words(first, "a b") == "▁a▁b");
  CHECK(words(old, "a b") == "a|▁b");
}

TEST_CASE("ByteLevel cuts as GPT-2 and writes visible characters") {
  const char* gpt2 =
      R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true})";
  const char* plain =
      R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})";
  CHECK(words(gpt2, "it's 12  é\n") == "Ġit|'s|Ġ12|Ġ|ĠÃ©|Ċ");
  CHECK(words(gpt2, "a", Place::later) == "a");
  CHECK(words(plain, "a b") == "aĠb");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    CHECK(from_byte_level(to_byte_level(one)) == one);
  }
  CHECK(from_byte_level("日") == std::nullopt);
  CHECK(from_byte_level("abcdefghijklmnopqrst\xF0") == std::nullopt);  // no UTF-8
}

TEST_CASE("Digits, Punctuation, Whitespace and WhitespaceSplit") {
  const char* each = R"({"type": "Digits", "individual_digits": true})";
  const char* runs = R"({"type": "Digits", "individual_digits": false})";
  CHECK(words(each, "ab12²c٣") == "ab|1|2|²|c|٣");
  CHECK(words(runs, "ab12²c٣") == "ab|12²|c|٣");
  CHECK(words(R"({"type": "Punctuation"})", "a-$b¿¡ c") == "a|-|$|b|¿|¡| c");
  CHECK(words(R"({"type": "Punctuation", "behavior": "MergedWithPrevious"})", "a-$b") == "a-|$|b");
  CHECK(words(R"({"type": "Punctuation", "behavior": "Contiguous"})", "a-$b") == "a|-$|b");
  CHECK(words(R"({"type": "Whitespace"})", " it's_ok\u00a0€5--x ") == "it|'|s_ok|€|5|--|x");
  CHECK(words(R"({"type": "WhitespaceSplit"})", " it's\u3000 ok\n") == "it's|ok");
}

TEST_CASE("normal forms are those of Unicode 9") {
  CHECK(form(NormalForm::nfc, "plain") == "plain");
  CHECK(form(NormalForm::nfc, "e\u0301 \u212B ﬁ") == "é Å ﬁ");
  CHECK(form(NormalForm::nfc, "q\u0307\u0323") == "q\u0323\u0307");
  CHECK(form(NormalForm::nfc, "\u1100\u1161\u11A8") == "각");
  CHECK(form(NormalForm::nfc, "a\u0323\u0302") == "ậ");
  CHECK(form(NormalForm::nfc, "a\u0315\u0300") == "à\u0315");
  CHECK(form(NormalForm::nfd, "é각ﬁ") == "e\u0301\u1100\u1161\u11A8ﬁ");
  CHECK(form(NormalForm::nfkc, "ﬁ²\u00a0ǆ ｶﾞ") == "fi2 dž ガ");
  CHECK(form(NormalForm::nfkd, "ǆ①") == "dz\u030C1");
  // Composes since Unicode 13; a mark since Unicode 11; decomposes since Unicode 12.1.
  CHECK(form(NormalForm::nfc, "\U00011935\U00011930") == "\U00011935\U00011930");
  CHECK(form(NormalForm::nfc, "a\u0345\u08D3\u0334") == "a\u0345\u08D3\u0334");
  CHECK(form(NormalForm::nfkd, "㋿") == "㋿");
}

TEST_CASE("Lowercase, Strip and StripAccents") {
  CHECK(normal(R"({"type": "Lowercase"})", "ÉİΣ ẞ") == "éi\u0307σ ß");
  CHECK(normal(R"({"type": "StripAccents"})", "e\u0301é\u093F") == "eé");
  const char* both = R"({"type": "Strip", "strip_left": true, "strip_right": true})";
  const char* left = R"({"type": "Strip", "strip_left": true, "strip_right": false})";
  CHECK(normal(both, " \u3000a b\n") == "a b");
  CHECK(normal(both, " \n") == "");
  CHECK(normal(left, " a ") == "a ");
  CHECK(normal(both, " a ", Place::first) == "a ");
  CHECK(normal(both, " a ", Place::later) == " a ");
}

TEST_CASE("a part begins the text if its first character came from the text's first one") {
  const char* first =
      R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false})";
  const auto after = [&](const char* normalizer, const std::string& text) {
    Stretch whole = stretch(text);
    read_normalizer(Json::parse(normalizer), "normalizer")->apply(whole, Place::whole);
    std::vector<Stretch> parts{whole.part(0, whole.text.size())};
    read_pre_tokenizer(Json::parse(first), "pre_tokenizer")->apply(parts, Place::whole);
    return joined(parts);
  };
  CHECK(after(R"({"type": "Lowercase"})", "A") == "▁a");
  CHECK(after(R"({"type": "Lowercase"})", "İ") == "▁i\u0307");
  const char* strip = R"({"type": "Strip", "strip_left": true, "strip_right": true})";
  CHECK(after(strip, "a ") == "▁a");
  CHECK(after(strip, " a") == "a");  // the original text is gone
  CHECK(after(R"({"type": "StripAccents"})", "\u0301a") == "a");
  CHECK(after(R"({"type": "StripAccents"})", "a\u0301") == "▁a");
  const char* replace = R"({"type": "Replace", "pattern": {"String": "ab"}, "content": "x"})";
  CHECK(after(replace, "abc") == "xc");  // replaces the last replaced character
  CHECK(after(R"({"type": "Prepend", "prepend": "x"})", "a") == "▁xa");

  // Parts of "é" decomposed both come from the first character.
  Stretch letter = stretch("éb");
  normalize(letter, NormalForm::nfd);
  CHECK(letter.part(1, letter.text.size()).at_start);
  CHECK_FALSE(letter.part(3, letter.text.size()).at_start);
  CHECK_FALSE(Stretch::of_input("ab", 1, 2).at_start);
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

TEST_CASE("a template may end a text, also inside a Sequence") {
  Json json = test::tiny();
  Json& single = json["post_processor"]["single"];
  single.push_back({{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}});
  json["post_processor"] = {{"type", "Sequence"},
                            {"processors", {{{"type", "ByteLevel"}}, json["post_processor"]}}};
  const Tokenizer tokenizer = test::load(json);
  CHECK(spell(tokenizer, tokenizer.encode("a", true)) == "<s>|▁a|<s>");
  CHECK(spell(tokenizer, tokenizer.encode_piece("a", true)) == "<s>|▁a");
}
