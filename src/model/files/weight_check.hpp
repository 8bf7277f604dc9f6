#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pardec {

/// A tensor of a checkpoint with values that are not finite.
struct NotFinite {
  std::string file, tensor;   ///< path of the file, name of the tensor
  std::int64_t nan = 0;       ///< number of NaN values
  std::int64_t infinite = 0;  ///< number of infinite values and of values beyond float32's range
  std::int64_t elements = 0;  ///< number of all values
  /// The counts as a text, e.g. "2 NaN and 1 Inf of 4096 numbers".
  std::string text() const;
};

/// The result of reading all weights of a checkpoint.
struct WeightCheck {
  /// number of tensors, including those of unsupported types, whose values are not read
  std::int64_t tensors = 0;
  std::vector<NotFinite> not_finite;  ///< sorted by tensor name, extra heads last
};

/// Reads all weights of a checkpoint folder or GGUF file, including extra heads, and finds values
/// that are not finite. ModelError: there are no weights, or a file is inconsistent.
WeightCheck check_weights(const std::filesystem::path& folder);

}  // namespace pardec
