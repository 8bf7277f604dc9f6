#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pardec {

/// A tensor of a checkpoint with values that are not finite.
struct NotFinite {
  std::string file, tensor;
  std::int64_t nan = 0;
  std::int64_t infinite = 0;  ///< includes values beyond float32's range
  std::int64_t elements = 0;
  /// `2 NaN and 1 Inf of 4096 numbers`
  std::string text() const;
};

/// The result of reading all weights of a folder.
struct WeightCheck {
  /// number of tensors, including those of unsupported types, whose values are not read
  std::int64_t tensors = 0;
  std::vector<NotFinite> not_finite;  ///< sorted by name, extra heads last
};

/// Reads all weights, including extra heads. ModelError: there are no weights, or a file is
/// inconsistent.
WeightCheck check_weights(const std::filesystem::path& folder);

}  // namespace pardec
