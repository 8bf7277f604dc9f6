#pragma once
#include <cstdint>
#include <filesystem>

#include "src/model/files/config.hpp"

namespace pardec {

/// Rows of embedding and head that get new random values from a normal distribution with mean 0 and
/// standard deviation 0.02, as at initialisation.
struct DrawnRows {
  std::int64_t first = 0, count = 0;  ///< ids first, first + 1, ..., first + count - 1; 0: none
  std::uint64_t seed = 1;             ///< the same seed gives the same rows
};

/// Writes the weights that a network of `config` needs to the safetensors file `file`. The weights
/// come from the checkpoint folder `base`, except the rows in `drawn`. Each weight is written in
/// the type that it has in `base`. ModelError: `base` cannot be read, or lacks a weight. RunError:
/// writing fails. REQUIRES: `config` has the shape of `base`, except that it may have fewer layers
/// and a larger vocabulary; `drawn` contains all rows beyond the vocabulary of `base`; the weights
/// of `base` are neither quantised nor in a GGUF file.
void write_derived_weights(const std::filesystem::path& base, const ModelConfig& config,
                           const DrawnRows& drawn, const std::filesystem::path& file);

}  // namespace pardec
