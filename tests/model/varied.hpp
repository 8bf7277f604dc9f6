#pragma once
#include <cstring>
#include <filesystem>
#include <span>
#include <string>

#include "src/kernels/bf16.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/support/files.hpp"
#include "src/support/rng.hpp"

namespace pardec::test {

/// Gives the vectors of a bf16 safetensors file random values: norms that are not all one (or zero,
/// where one is added), and biases that are not zero.
inline void vary_vectors(const std::filesystem::path& path) {
  std::string bytes = read_file(path);
  const std::span file(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  Rng rng(4);
  for (const auto& [name, tensor] : parse_safetensors(file, "file")) {
    const bool stacked = name.ends_with("_bias");  // of experts
    if (tensor.shape.size() != 1 && !stacked) continue;
    // Sinks as large as the largest of some scores: queries and keys are three times the usual
    // size.
    const bool sinks = name.ends_with(".sinks");
    const double middle = stacked || name.ends_with(".bias") ? 0.0 : sinks ? 15.0 : 1.0;
    const double deviation = sinks ? 5.0 : 0.3;
    for (size_t at = 0; at < tensor.data.size(); at += 2) {
      const std::uint16_t value = narrow(static_cast<float>(middle + deviation * rng.normal()));
      std::memcpy(tensor.data.data() + at, &value, 2);
    }
  }
  write_file(path, [&](const FileSink& put) { put(bytes.data(), bytes.size()); });
}

}  // namespace pardec::test
