// medusa_heads.safetensors of a small network: heads that fit it, or a ModelError.
#include <vector>

#include "src/model/files/extra_heads.hpp"
#include "src/support/error.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  std::vector<std::byte> file(size);
  for (std::size_t i = 0; i < size; ++i) file[i] = static_cast<std::byte>(data[i]);
  ModelConfig config;
  config.hidden_size = 2;
  config.vocab_size = 3;
  try {
    const StoredExtraHeads found =
        read_extra_heads(parse_safetensors(file, "fuzz"), config, "fuzz");
    const auto [heads, blocks, shares_head] = found.shape;
    const auto each = static_cast<std::size_t>(2 * blocks + (shares_head ? 0 : 1));
    if (heads < 1 || each < 1 || found.tensors.size() != each * static_cast<std::size_t>(heads))
      __builtin_trap();
  } catch (const Error&) {
  }
  return 0;
}
