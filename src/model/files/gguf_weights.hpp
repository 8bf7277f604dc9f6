#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/model/files/config.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/support/gguf.hpp"

namespace pardec {

/// Whether `dequantise` reads this type.
bool is_read(const GgmlType& type);
/// The names of the types that are read: "F32, F16, ...".
std::string read_ggml_types();

/// Writes the numbers that `blocks` stands for, with the arithmetic of gguf-py's `dequantize`, so
/// that the bits are equal. REQUIRES: is_read(type); blocks.size() / type.bytes whole blocks;
/// out.size() = blocks * type.block.
void dequantise(const GgmlType& type, std::span<const std::byte> blocks, std::span<float> out);

/// The number of rows of a tensor of the type StoredType::rows, and of numbers in a row. A vector
/// is one row, unless its numbers are reordered.
std::int64_t row_count(const StoredTensor& tensor);
std::int64_t row_width(const StoredTensor& tensor);
/// Reads the numbers of `count` rows from row `first` on, in transformers' order. REQUIRES:
/// out.size() = count * row_width(tensor). Thread-safe.
void read_rows(const StoredTensor& tensor, std::int64_t first, std::int64_t count,
               std::span<float> out);

/// A weight of a network and its tensor.
struct NamedTensor {
  std::string name;
  StoredTensor tensor;
};
/// The tensors of a GGUF file under the names that transformers gives the weights of a network of
/// `config`; a tensor that is no weight keeps its name. The experts of a layer, which are one
/// tensor in the file, become one tensor each.
std::vector<NamedTensor> named_tensors(const Gguf& gguf, const ModelConfig& config);

}  // namespace pardec
