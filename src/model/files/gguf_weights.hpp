#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/kernels/packed_matrix.hpp"
#include "src/model/files/config.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/support/gguf.hpp"

namespace pardec {

/// Whether `dequantise` supports this type.
bool is_read(const GgmlType& type);
/// The names of the types that `dequantise` supports: "F32, F16, ...".
std::string read_ggml_types();

/// Converts the bytes in `blocks` to numbers, and writes the numbers to `out`. The arithmetic is
/// that of gguf-py's `dequantize`, so the results have the same bits. REQUIRES: is_read(type);
/// `blocks` consists of n whole blocks of type.bytes bytes each; out.size() = n * type.block.
void dequantise(const GgmlType& type, std::span<const std::byte> blocks, std::span<float> out);

/// The packed type that stores the same numbers as this type. None: there is no such packed type.
std::optional<WeightType> packed_type(const GgmlType& type);
/// The type in which a weight of a GGUF file is packed if the network computes with the file's
/// numbers (Dtype::gguf). None: the weight is converted to bf16. This is the case if the weight is
/// not a matrix, is a router, or has a type without a kernel. It is also the case for gate and up,
/// which are packed together, if their types differ.
std::optional<WeightType> packed_type(const Parameter& parameter, const ModelConfig& config);

/// Whether a stored matrix is [out, in] even if Parameter::transposed is set. True for quantised
/// weights and for the weights of GGUF files.
inline bool is_turned(const StoredTensor& tensor) { return tensor.read_row || tensor.form.type; }

/// The number of rows of a tensor of the type StoredType::rows: the product of all dimensions
/// except the last. A vector is one row. Exception: in a vector whose numbers are reordered
/// (GgufForm::heads), each number is a row.
std::int64_t row_count(const StoredTensor& tensor);
/// The width of each of these rows: the count of its numbers. REQUIRES: the tensor has at least one
/// dimension.
std::int64_t row_width(const StoredTensor& tensor);
/// The bytes of a row of a tensor in a GGUF file, as stored there (of the type form.type). Rows are
/// numbered as in transformers. REQUIRES: the tensor has the type StoredType::rows and is in a GGUF
/// file.
std::span<std::byte> row_bytes(const StoredTensor& tensor, std::int64_t row);
/// Reads the numbers of `count` rows of a tensor of the type StoredType::rows, from row `first` on.
/// Rows are numbered as in transformers. REQUIRES: out.size() = count * row_width(tensor).
/// Thread-safe.
void read_rows(const StoredTensor& tensor, std::int64_t first, std::int64_t count,
               std::span<float> out);

/// A tensor and its name.
struct NamedTensor {
  std::string name;
  StoredTensor tensor;
};
/// The tensors of a GGUF file, under the names that transformers gives to the weights of a network
/// of `config`. A tensor that is not a weight of the network keeps its name. The file stores the
/// experts of a layer as one tensor; here, each expert has its own tensor. The tensors refer to the
/// memory of the file. ModelError: a tensor does not have the shape that is needed to reorder or
/// divide it, or the file's architecture is not supported.
std::vector<NamedTensor> named_tensors(const Gguf& gguf, const ModelConfig& config);

}  // namespace pardec
