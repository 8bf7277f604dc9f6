#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace pardec {

/// A tensor of a checkpoint that holds what is no finite number.
struct NotFinite {
  std::string file, tensor;
  std::int64_t nan = 0;
  std::int64_t infinite = 0;  ///< beyond float32, in which networks compute, too
  std::int64_t elements = 0;
  /// `2 NaN and 1 Inf of 4096 numbers`
  std::string text() const;
};

/// What reading all weights of a folder found.
struct WeightCheck {
  std::int64_t tensors =
      0;  ///< also those of a type that no weight has, whose numbers are not read
  std::vector<NotFinite> not_finite;  ///< in the order of their names, extra heads last
};

/// Reads all weights, those of extra heads too. ModelError where there are none, or files lie.
WeightCheck check_weights(const std::filesystem::path& folder);

}  // namespace pardec
