#pragma once
#include <cstdint>
#include <filesystem>

#include "src/model/files/config.hpp"

namespace pardec {

/// Rows of embedding and head that are drawn anew, as a network begins: N(0, 0.02).
struct DrawnRows {
  std::int64_t first = 0, count = 0;
  std::uint64_t seed = 1;
};

/// Writes the weights of `base` that a network of `config` has, in the types that they have there:
/// of fewer layers the first ones, and of a larger vocabulary, whose further rows are drawn.
/// ModelError: `base` lacks one; RunError.
void write_derived_weights(const std::filesystem::path& base, const ModelConfig& config,
                           const DrawnRows& drawn, const std::filesystem::path& file);

}  // namespace pardec
