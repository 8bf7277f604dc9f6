// config.json, then after a zero byte each the header and the data of model.safetensors, whose
// length of the header is computed here (safetensors_fuzz has wrong ones): every number of every
// weight is read, or the checkpoint is an Error.
#include <algorithm>
#include <vector>

#include "src/model/files/checkpoint_files.hpp"
#include "src/model/files/gguf_weights.hpp"
#include "src/model/files/quantised_weights.hpp"
#include "src/support/error.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  std::string_view rest = test::text_of(data, size);
  const auto part = [&] {  // up to the next zero byte
    const std::string_view taken = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(taken.size() + 1, rest.size()));
    return taken;
  };
  test::put("config.json", part());
  const std::string_view header = part();
  std::string file;
  for (std::size_t i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  test::put("model.safetensors", file.append(header).append(rest));
  float sum = 0;
  try {
    const CheckpointFiles files(test::scratch());
    for (const auto& [name, entry] : files.tensors()) {
      if (entry.tensor.type != StoredType::rows) continue;
      std::vector<float> row(static_cast<std::size_t>(row_width(entry.tensor)));
      for (std::int64_t i = 0; i < row_count(entry.tensor); ++i) {
        read_rows(entry.tensor, i, 1, row);
        for (const float value : row) sum += value;
      }
    }
  } catch (const Error&) {
  }
  if (sum == 12345) __builtin_trap();  // so that the numbers are read
  return 0;
}
