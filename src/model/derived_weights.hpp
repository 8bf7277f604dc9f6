#pragma once
#include <cstdint>
#include <filesystem>

#include "src/model/files/config.hpp"

namespace pardec {

/// Rows of embedding and head that get new random values from a normal distribution with mean 0 and
/// standard deviation 0.02, as at initialisation.
struct DrawnRows {
  std::int64_t first = 0, count = 0;
  std::uint64_t seed = 1;
};

/// Writes the weights of `base` that a network of `config` needs. Each weight is written in the
/// type that it has in `base`. If `config` has fewer layers than `base`, the first layers are used.
/// If it has a larger vocabulary, the additional rows are random. ModelError: `base` lacks a
/// weight. RunError: writing fails.
void write_derived_weights(const std::filesystem::path& base, const ModelConfig& config,
                           const DrawnRows& drawn, const std::filesystem::path& file);

}  // namespace pardec
