#include "src/support/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/tokenizer/tiny.hpp"

using namespace pardec;

namespace {

/// The error of loading, without the folder; a single line.
std::string error_of(const std::string& text) {
  try {
    test::load_text(text);
  } catch (const ModelError& error) {
    const std::string what = error.what();
    CHECK(what.find('\n') == std::string::npos);
    return what.substr(what.find("tokenizer.json"));
  }
  return "no error";
}

std::string error_of(const Json& json) { return error_of(json.dump()); }

/// tiny() with one part replaced.
std::string error_with(const char* pointer, Json value) {
  Json json = test::tiny();
  json[Json::json_pointer(pointer)] = std::move(value);
  return error_of(json);
}

}  // namespace

TEST_CASE("a file that is missing or not JSON is named, with the line") {
  CHECK_THROWS_WITH(Tokenizer::load("/nowhere/tokenizer.json"),
                    Catch::Contains("/nowhere/tokenizer.json"));
  CHECK_THROWS_AS(Tokenizer::load("/nowhere/tokenizer.json"), ModelError);
  CHECK_THAT(error_of(std::string("{\n\"model\": }")),
             Catch::StartsWith("tokenizer.json:2: is not valid JSON"));
  CHECK_THAT(error_of(std::string("[]")), Catch::StartsWith("tokenizer.json: "));
  CHECK_THAT(error_of(std::string("{}")), Catch::Contains("model is missing"));
}

TEST_CASE("an unknown component or option is named with its place") {
  CHECK(error_with("/pre_tokenizer", {{"type", "UnicodeScripts"}}) ==
        "tokenizer.json: pre_tokenizer 'UnicodeScripts' is not supported; supported: "
        "BertPreTokenizer, ByteLevel, Digits, Metaspace, Punctuation, Sequence, Split, Whitespace, "
        "WhitespaceSplit");
  CHECK(error_with("/normalizer/normalizers/1", {{"type", "Nmt"}}) ==
        "tokenizer.json: normalizer 'Sequence'.normalizers[1] 'Nmt' is not supported; "
        "supported: BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Precompiled, Prepend, "
        "Replace, Sequence, Strip, StripAccents");
  CHECK_THAT(error_with("/normalizer/normalizers/1",
                        {{"type", "Precompiled"}, {"precompiled_charsmap", "a"}}),
             Catch::Contains("'precompiled_charsmap' is not base64"));
  CHECK_THAT(error_with("/normalizer/normalizers/1",
                        {{"type", "Precompiled"}, {"precompiled_charsmap", "////fw=="}}),
             Catch::Contains("expected a map of SentencePiece"));
  CHECK_THAT(error_with("/decoder/decoders/0", {{"type", "CTC"}}),
             Catch::Contains("decoders[0] 'CTC' is not supported"));
  CHECK_THAT(error_with("/post_processor", {{"type", "BertProcessing"}}),
             Catch::Contains("post_processor 'BertProcessing'"));
  CHECK_THAT(error_with("/model/type", "WordLevel"),
             Catch::Contains("model 'WordLevel' is not supported; supported: BPE, Unigram, "
                             "WordPiece"));
  const auto unigram = [](const Json& vocab) {
    return error_with("/model", {{"type", "Unigram"}, {"unk_id", 1}, {"vocab", vocab}});
  };
  CHECK_THAT(unigram(Json::array({Json::array({"a", -1.0})})),
             Catch::Contains("'unk_id' is 1, expected an id below 1"));
  CHECK_THAT(unigram(Json::array({Json::array({"a", -1.0}), Json::array({"a", -2.0})})),
             Catch::Contains("has the ids 0 and 1"));
  CHECK_THAT(unigram(Json::array({Json::array({"a", "b"})})),
             Catch::Contains("expected [token, score]"));
  CHECK_THAT(error_with("/model", {{"type", "WordPiece"}, {"vocab", {{"a", 0}}}}),
             Catch::Contains("'unk_token' is '[UNK]', which the vocabulary lacks"));
  CHECK_THAT(error_with("/decoder/decoders/1/speed", 3),
             Catch::Contains("decoders[1] 'ByteFallback': unknown key 'speed'"));
  CHECK_THAT(error_with("/model/dropout", 0.1), Catch::Contains("'dropout'"));
  CHECK_THAT(error_with("/model/end_of_word_suffix", "</w>"),
             Catch::Contains("'end_of_word_suffix' is '</w>'"));
  CHECK_THAT(error_with("/extra", 1), Catch::Contains("unknown key 'extra'"));
  CHECK_THAT(error_with("/pre_tokenizer", 7),
             Catch::Contains("pre_tokenizer: is number, expected an object"));
}

TEST_CASE("wrong options are refused") {
  const Json split = {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}};
  CHECK_THAT(error_with("/pre_tokenizer", split), Catch::Contains("'(a' is no regular expression"));
  Json behavior = split;
  behavior["pattern"] = {{"String", "a"}};
  behavior["behavior"] = "Isolate";
  CHECK_THAT(error_with("/pre_tokenizer", behavior), Catch::Contains("did you mean 'Isolated'?"));
  CHECK_THAT(error_with("/pre_tokenizer", {{"type", "Punctuation"}, {"behavior", "Merged"}}),
             Catch::Contains("pre_tokenizer 'Punctuation': 'behavior' is 'Merged'"));
  CHECK_THAT(error_with("/normalizer", {{"type", "Strip"}, {"strip_left", true}}),
             Catch::Contains("normalizer 'Strip'") && Catch::Contains("strip_right"));
  CHECK_THAT(error_with("/decoder/decoders/0/pattern", {{"String", ""}}),
             Catch::Contains("'pattern' is"));
  CHECK_THAT(error_with("/pre_tokenizer", {{"type", "Metaspace"}, {"prepend_scheme", "last"}}),
             Catch::Contains("always, first or never"));
  CHECK_THAT(error_with("/pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "ab"}}),
             Catch::Contains("one character"));
  CHECK_THAT(error_with("/post_processor/single/0/SpecialToken/id", "<x>"),
             Catch::Contains("'special_tokens' lacks '<x>'"));
  CHECK_THAT(error_with("/post_processor/special_tokens/<s>/ids", {9999}),
             Catch::Contains("has id 9999, expected below"));
  CHECK_THAT(error_with("/post_processor/single", Json::array()),
             Catch::Contains("lacks sequence 'A'"));
}

TEST_CASE("a vocabulary is one to one and its ids are in range") {
  CHECK_THAT(error_with("/model/vocab/new", 1), Catch::Contains("'<s>' and 'new' both have id 1"));
  CHECK_THAT(error_with("/model/vocab/new", -1),
             Catch::Contains("token 'new' has id -1, expected a whole number from 0"));
  CHECK_THAT(error_with("/model/vocab/new", 4294967296), Catch::Contains("has id 4294967296"));
  CHECK_THAT(error_with("/model/vocab/new", "7"), Catch::Contains("has id \"7\""));
  CHECK_THAT(error_with("/model/vocab", Json::array()),
             Catch::Contains("model.vocab is no object"));
  CHECK_THAT(error_with("/model/unk_token", "<none>"),
             Catch::Contains("'unk_token' is '<none>', which the vocabulary lacks"));
}

TEST_CASE("merges name known tokens") {
  CHECK_THAT(error_with("/model/merges/1", "x b"),
             Catch::Contains("model.merges[1] needs token 'xb', which the vocabulary lacks"));
  CHECK_THAT(error_with("/model/merges/0", "b b"),
             Catch::Contains("model.merges[0] needs token 'bb'"));
  CHECK_THAT(error_with("/model/merges/0", "b c a"),
             Catch::Contains("model.merges[0] is \"b c a\", expected"));
  CHECK_THAT(error_with("/model/merges/0", {"b"}), Catch::Contains("model.merges[0] is [\"b\"]"));
  CHECK_THAT(error_with("/model/merges", nullptr), Catch::Contains("model.merges is no array"));
}

TEST_CASE("added tokens agree with the vocabulary") {
  const auto added = [](int id, const char* content) {
    return Json{{"id", id}, {"content", content}};
  };
  CHECK_THAT(error_with("/added_tokens/2", added(5, "</s>")),
             Catch::Contains("added_tokens[2]: '</s>' has id 5, expected 2"));
  CHECK_THAT(error_with("/added_tokens/3", added(1, "<s>")),
             Catch::Contains("'<s>' has id 1, expected each token once"));
  CHECK_THAT(error_with("/added_tokens/3", added(300, "<new>")),
             Catch::Contains("'<new>' has id 300, expected 269"));
  CHECK_THAT(error_with("/added_tokens/3", added(-1, "<new>")),
             Catch::Contains("added_tokens[3] has id -1"));
  CHECK_THAT(error_with("/added_tokens/3", added(269, "")), Catch::Contains("'content' is empty"));
  CHECK(error_with("/added_tokens/3", added(269, "<new>")) == "no error");
}

namespace {

/// The error of encoding with such a pre-tokenizer.
std::string encoding_error(const char* pointer, Json value, const std::string& text) {
  Json json = test::tiny();
  json[Json::json_pointer(pointer)] = std::move(value);
  const Tokenizer tokenizer = test::load(json);
  try {
    tokenizer.encode(text, true);
  } catch (const RunError& error) {
    const std::string what = error.what();
    return what.substr(what.find("tokenizer.json"));
  }
  return "no error";
}

Json split_at(const std::string& expression) {
  return {{"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}};
}

}  // namespace

TEST_CASE("a tree of parts that is nested too deeply is refused") {
  std::string open, close;
  for (int i = 0; i < 200000; ++i) {
    open += R"({"type":"Sequence","normalizers":[)";
    close += "]}";
  }
  CHECK_THAT(error_of("{\"normalizer\":" + open + close + "}"),
             Catch::Contains("is nested too deeply") && Catch::Contains("at most 512 levels"));
  Json nested = {{"type", "Lowercase"}};
  for (int i = 0; i < 100; ++i)
    nested = {{"type", "Sequence"}, {"normalizers", Json::array({nested})}};
  CHECK_THAT(error_with("/normalizer", nested),
             Catch::Contains("normalizer has 101 components, expected at most 64"));
}

TEST_CASE("an expression that backtracks without end is an error of that text") {
  const std::string evil = std::string(40, 'a') + "!";
  CHECK_THAT(encoding_error("/pre_tokenizer", split_at("(a+)+$"), "b " + evil),
             Catch::StartsWith("tokenizer.json: regular expression '(a+)+$' fails at byte ") &&
                 Catch::Contains("retry-limit"));
  CHECK(encoding_error("/pre_tokenizer", split_at("(a+)+$"), "ab") == "no error");
  // The cost of a tokenizer's own expression on a long run is accepted.
  const std::string spaces(300000, ' ');
  const auto own =
      split_at(R"( ?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)");
  CHECK(encoding_error("/pre_tokenizer", own, spaces + "x\n1" + spaces) == "no error");
}

TEST_CASE("components that double a text repeatedly are an error of that text") {
  const Json twice = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
  Json parts = Json::array();
  for (int i = 0; i < 60; ++i) parts.push_back(twice);
  const Json sequence = {{"type", "Sequence"}, {"normalizers", parts}};
  CHECK_THAT(encoding_error("/normalizer", sequence, "a"),
             Catch::StartsWith("tokenizer.json: a text of 1 bytes becomes one of more than"));
  CHECK(encoding_error("/normalizer", sequence, "b") == "no error");
  const Json deeper = {{"type", "Sequence"}, {"decoders", parts}};
  CHECK_THAT(error_with("/decoder", deeper), Catch::Contains("becomes one of more than"));
  const Json visible = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  Json levels = Json::array();
  for (int i = 0; i < 50; ++i) levels.push_back(visible);
  CHECK_THAT(
      encoding_error("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", levels}}, "é"),
      Catch::Contains("becomes one of more than"));
}
