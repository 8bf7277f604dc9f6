#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/files/parameters.hpp"
#include "src/support/gguf.hpp"
#include "src/support/mapped_file.hpp"

namespace pardec {

// The safetensors file format (Hugging Face):
//   8 bytes   n, little-endian: length of the header
//   n bytes   JSON object: tensor name -> {"dtype", "shape", "data_offsets": [begin, end)}, and
//             "__metadata__"
//   rest      data, row-major, little-endian; offsets count from here; the tensors cover it
//             without gap or overlap

/// `rows`: the numbers are not stored one after another as one of the other types; read_rows
/// (gguf_weights.hpp) reads them. `other`: a type that is not supported for weights.
enum class StoredType { bf16, f16, f32, f64, rows, other };
/// The type's name in safetensors files. REQUIRES: neither `rows` nor `other`.
std::string_view name(StoredType type);
/// Bytes per element. REQUIRES: neither `rows` nor `other`.
std::int64_t size_of(StoredType type);

/// The conversion of a GGUF file's tensor to the weight that transformers has.
struct GgufForm {
  const GgmlType* type = nullptr;
  /// In a GGUF file, rotary embedding rotates neighbouring rows of a head; in transformers, it
  /// rotates row i with row i + half. `heads`: the number of heads whose rows are reordered; 0:
  /// none.
  int heads = 0;
  bool less_one = false;  ///< 1 is subtracted from each number
};

/// A tensor in a mapped file. `data` is valid as long as the file is mapped.
struct StoredTensor {
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;
  std::span<std::byte> data;  ///< unless `rows`: product(shape) * size_of(type) bytes, unaligned
  std::string dtype;          ///< as written in the file
  GgufForm form;              ///< only of `rows`
};

/// Reads the header at the beginning of `file`, and checks all of its offsets and shapes against
/// the file's length. ModelError: the file is truncated or inconsistent. Its one-line message says
/// `where`, what was found, and what was expected.
std::map<std::string, StoredTensor> parse_safetensors(std::span<std::byte> file,
                                                      const std::string& where);

/// Throws a ModelError, which names the tensor, if the tensor's type is `other`.
void check_numbers(const StoredTensor& tensor, const std::string& name, const std::string& where);

/// A tensor to be written; `fill` writes its bytes.
struct TensorToWrite {
  std::string name;
  StoredType type = StoredType::bf16;
  std::vector<std::int64_t> shape;
  std::function<void(std::span<std::byte>)> fill;
};

/// Writes the tensors in the given order, with one tensor in memory at a time. Writes to
/// `file.tmp`, syncs it, and renames it to `file`. RunError: writing fails.
void write_safetensors(const std::filesystem::path& file,
                       const std::vector<TensorToWrite>& tensors);

}  // namespace pardec
