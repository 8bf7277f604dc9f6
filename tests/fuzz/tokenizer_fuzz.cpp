// tokenizer.json, and after the first zero byte a text. It loads, or is a ModelError. If it loads,
// it encodes and decodes any text, or says that the text takes too long.
#include "src/support/error.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  const std::string_view all = test::text_of(data, size);
  const std::size_t cut = std::min(all.find('\0'), all.size());
  const std::string tail(all.substr(std::min(cut + 1, all.size())));
  try {
    const Tokenizer tokenizer = Tokenizer::load(test::put("tokenizer.json", all.substr(0, cut)));
    for (const std::string& text :
         {tail, std::string(), std::string("a  b\n"),
          std::string("Größe 3,5 kg – \xF0\x9F\x98\x80 \xFF"), std::string("<s>ab</s> abab")})
      try {
        tokenizer.decode(tokenizer.encode(text, true), true);
        tokenizer.decode(tokenizer.encode_piece(text, false), false);
      } catch (const RunError&) {
      }
  } catch (const ModelError&) {
  }
  return 0;
}
