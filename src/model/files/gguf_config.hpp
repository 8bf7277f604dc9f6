#pragma once
#include <string>

#include "src/support/gguf.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// One supported `general.architecture` of GGUF files.
struct GgufFamily {
  const char* architecture;
  const char* model_type;  ///< the row of families.hpp
  /// ggml rotates neighbouring dimensions, so that the rows of q and k are stored in another order.
  bool rotates_neighbours = false;
  int pattern = 0;  ///< one of so many layers has no sliding window; 0: no layer has a window
  /// The number of layers of the one network whose queries are scaled by hidden_size / heads
  /// instead of by head_dim: ggml knows it by this number.
  int scaled_by_width = 0;
};
/// ModelError, which lists what is supported: the file is of another architecture.
const GgufFamily& gguf_family(const Gguf& gguf);

/// The config.json that transformers would have for the network in a GGUF file. ModelError: the
/// file is of an unsupported architecture, or lacks a key.
Json gguf_config(const Gguf& gguf);

/// "Q4_1": the type in which the file stores most numbers.
std::string main_type(const Gguf& gguf);
/// One line about the types that are widened, e.g. "Q4_1 (210 tensors), Q8_0 (1 tensor)"; empty:
/// the file has F32, F16 and BF16 only.
std::string widened_types(const Gguf& gguf);

}  // namespace pardec
