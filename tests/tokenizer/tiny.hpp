#pragma once
#include <string>

#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "tests/support/data.hpp"

namespace pardec::test {

/// A byte-fallback tokenizer.json with a few merges, built like Llama-2's. Tests modify it.
inline Json tiny() {
  Json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  int next = 3;
  for (int byte = 0; byte < 256; ++byte) {
    const char* digits = "0123456789ABCDEF";
    vocab[std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">"] = next++;
  }
  for (const char* token : {"▁", "a", "b", "c", "ab", "bc", "abc", "aa", "▁a", "▁ab"})
    vocab[token] = next++;
  const auto special = [](int id, const char* content) {
    return Json{{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                {"rstrip", false}, {"normalized", false}, {"special", true}};
  };
  Json json = Json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null,
    "normalizer": {"type": "Sequence", "normalizers": [
      {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "pre_tokenizer": null,
    "post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}], "pair": [],
      "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}}},
    "decoder": {"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
      {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "dropout": null, "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true,
              "merges": ["b c", "a b", ["▁", "a"], "a a", ["▁", "ab"], ["ab", "c"], ["a", "bc"]]}})");
  json["added_tokens"] = Json::array({special(0, "<unk>"), special(1, "<s>"), special(2, "</s>")});
  json["model"]["vocab"] = std::move(vocab);
  return json;
}

/// The tokenizer with this content of its tokenizer.json.
inline Tokenizer load_text(const std::string& text) {
  const TemporaryFolder folder;
  write_file(folder.path() / "tokenizer.json", text);
  return Tokenizer::load(folder.path() / "tokenizer.json");
}

inline Tokenizer load(const Json& json) { return load_text(json.dump()); }

/// The tokens as written in the vocabulary, joined by "|".
inline std::string spell(const Tokenizer& tokenizer, const Tokens& ids) {
  std::string out;
  for (const Token id : ids) {
    if (!out.empty()) out += '|';
    out += tokenizer.token(id);
  }
  return out;
}

}  // namespace pardec::test
