// config.json, and after the first zero byte model.safetensors: every number of every weight is
// read, or the checkpoint is an Error.
#include <vector>

#include "src/model/files/checkpoint_files.hpp"
#include "src/model/files/gguf_weights.hpp"
#include "src/model/files/quantised_weights.hpp"
#include "src/support/error.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pardec;
  const std::string_view all = test::text_of(data, size);
  const std::size_t cut = std::min(all.find('\0'), all.size());
  test::put("config.json", all.substr(0, cut));
  test::put("model.safetensors", all.substr(std::min(cut + 1, all.size())));
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
