// GGUF: every byte of every tensor and all metadata are inside the file, and so are the config, the
// names and the numbers of a network's weights and the tokenizer; or the file is an Error.
#include <vector>

#include "src/model/files/gguf_config.hpp"
#include "src/model/files/gguf_weights.hpp"
#include "src/support/error.hpp"
#include "src/tokenizer/gguf_tokenizer.hpp"
#include "src/tokenizer/tokenizer.hpp"
#include "tests/fuzz/input.hpp"

namespace {

void read_network(const pardec::Gguf& gguf) {
  using namespace pardec;
  const ModelConfig config = parse_model_config(gguf_config(gguf), "fuzz");
  float sum = 0;
  for (const NamedTensor& one : named_tensors(gguf, config)) {
    if (one.tensor.type != StoredType::rows || row_count(one.tensor) == 0) continue;
    std::vector<float> row(static_cast<std::size_t>(row_width(one.tensor)));
    read_rows(one.tensor, row_count(one.tensor) - 1, 1, row);
    for (const float value : row) sum += value;
  }
  if (sum == 12345) __builtin_trap();  // so that the numbers are read
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  std::vector<std::byte> file(size);
  for (std::size_t i = 0; i < size; ++i) file[i] = static_cast<std::byte>(data[i]);
  try {
    const Gguf gguf(file, "fuzz");
    unsigned sum = 0;
    for (const auto& [name, tensor] : gguf.tensors())
      for (const std::byte value : tensor.data) sum += static_cast<unsigned>(value);
    if (sum == 0xFFFFFFFF) return 1;  // so that the bytes are read
    try {
      read_network(gguf);
    } catch (const Error&) {
    }
    gguf_named_tokens(gguf);
    gguf_tokenizer(gguf);
    const Tokenizer tokenizer = Tokenizer::load(test::put("fuzz.gguf", test::text_of(data, size)));
    tokenizer.decode(tokenizer.encode("Größe 3,5 a  b<s>", true), true);
  } catch (const Error&) {
  }
  return 0;
}
