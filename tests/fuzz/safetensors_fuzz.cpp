// safetensors: every byte of every tensor is inside the file, or the file is a ModelError.
#include <vector>

#include "src/model/files/safetensors.hpp"
#include "src/support/error.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  std::vector<std::byte> file(size);
  for (std::size_t i = 0; i < size; ++i) file[i] = static_cast<std::byte>(data[i]);
  try {
    unsigned sum = 0;
    for (const auto& [name, tensor] : parse_safetensors(file, "fuzz")) {
      std::int64_t elements = 1;
      for (const std::int64_t length : tensor.shape) elements *= length;
      if (tensor.type != StoredType::other &&
          elements * size_of(tensor.type) != static_cast<std::int64_t>(tensor.data.size()))
        __builtin_trap();
      for (const std::byte value : tensor.data) sum += static_cast<unsigned>(value);
    }
    if (sum == 0xFFFFFFFF) return 1;  // so that the bytes are read
  } catch (const Error&) {
  }
  return 0;
}
