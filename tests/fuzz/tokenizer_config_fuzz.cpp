// tokenizer_config.json, and after zero bytes special_tokens_map.json and added_tokens.json, with a
// small tokenizer.json. It loads, or is a ModelError; its tokens are in its complete text.
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  constexpr const char* kTokenizer =
      R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "<": 2, ">": 3, "<a>": 4}, "merges": []},
          "added_tokens": [{"id": 4, "content": "<a>", "special": true}]})";
  const auto parts = split(std::string(test::text_of(data, size)), '\0');
  const auto part = [&](std::size_t at) { return at < parts.size() ? parts[at] : "{}"; };
  test::put("tokenizer_config.json", part(0));
  test::put("special_tokens_map.json", part(1));
  test::put("added_tokens.json", part(2));
  try {
    const auto file = test::put("tokenizer.json", kTokenizer);
    const Tokenizer tokenizer = Tokenizer::load(file);
    tokenizer.decode(tokenizer.encode("a<a> <b>ab", true), true);
    complete_tokenizer(file);
  } catch (const ModelError&) {
  }
  return 0;
}
