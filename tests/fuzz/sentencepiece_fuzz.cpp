// tokenizer.model: it loads, and encodes and decodes any text, or is an Error.
#include "src/support/error.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  try {
    const Tokenizer tokenizer =
        Tokenizer::load(test::put("tokenizer.model", test::text_of(data, size)));
    for (const char* text :
         {"", "a  b\n", "Größe 3,5 kg – \xF0\x9F\x98\x80 \xFF", "<s>ab</s> ab ｆﾞ"})
      try {
        tokenizer.decode(tokenizer.encode(text, true), true);
        tokenizer.decode(tokenizer.encode_piece(text, false), false);
      } catch (const RunError&) {
      }
  } catch (const ModelError&) {
  } catch (const DataError&) {
  }
  return 0;
}
