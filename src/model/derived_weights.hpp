#pragma once
#include <cstdint>
#include <filesystem>

#include "src/model/files/config.hpp"

namespace pardec {

/// Rows of embedding and head with new random values, N(0, 0.02), as at initialisation.
struct DrawnRows {
  std::int64_t first = 0, count = 0;
  std::uint64_t seed = 1;
};

/// Writes the weights of `base` that a network of `config` needs, each in its type in `base`. With
/// fewer layers, the first ones are taken. With a larger vocabulary, the additional rows are
/// random. ModelError: `base` lacks a weight. RunError.
void write_derived_weights(const std::filesystem::path& base, const ModelConfig& config,
                           const DrawnRows& drawn, const std::filesystem::path& file);

}  // namespace pardec
