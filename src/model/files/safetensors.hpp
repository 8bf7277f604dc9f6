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

/// The type of a stored tensor's numbers. `rows`: the numbers must be converted with read_rows
/// (gguf_weights.hpp), because they are quantised (in safetensors or GGUF files), or because a GGUF
/// file stores the rows in another order or adds 1 to each number (GgufForm).
/// `other`: a type that is not supported for weights.
enum class StoredType { bf16, f16, f32, f64, rows, other };
/// The type's name in safetensors files. REQUIRES: neither `rows` nor `other`.
std::string_view name(StoredType type);
/// Bytes per element. REQUIRES: neither `rows` nor `other`.
std::int64_t size_of(StoredType type);

/// The conversion of a GGUF file's tensor to the weight that transformers has.
struct GgufForm {
  const GgmlType* type = nullptr;  ///< the tensor's type in the file
  /// In a GGUF file, rotary embedding rotates neighbouring rows of a head; in transformers, it
  /// rotates row i with row i + half. `heads`: the number of heads whose rows are reordered; 0:
  /// none.
  int heads = 0;
  bool less_one = false;  ///< whether 1 is subtracted from each number
};

/// A tensor in a mapped file. `data` is valid as long as the file is mapped.
struct StoredTensor {
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;
  /// Bytes of the file, not aligned. Without `strides`: product(shape) * size_of(type) bytes; for
  /// `rows` and `other`, the stored bytes. With `strides`: begins at the tensor's first number, and
  /// contains all its numbers; between and after them may be numbers of other tensors.
  std::span<std::byte> data;
  std::string dtype;  ///< name of the type as written in the file
  /// Of a tensor in a GGUF file: its type there, and how the numbers are converted. In a
  /// safetensors file, form.type is null.
  GgufForm form;
  /// Writes the numbers of one row; only for `rows` of safetensors (quantised_weights.hpp).
  /// Thread-safe.
  std::function<void(std::int64_t row, std::span<float> out)> read_row = {};
  /// If the tensor is a part of a larger tensor: for each dimension, the distance from one index to
  /// the next, counted in numbers. Empty: the numbers follow one another.
  std::vector<std::int64_t> strides = {};
};

/// Reads the header at the beginning of `file`, and checks all offsets and shapes in the header
/// against the file's length. Returns the tensors by name; their `data` refers to the memory of
/// `file`. ModelError, which starts with `where`: the file is truncated or inconsistent.
std::map<std::string, StoredTensor> parse_safetensors(std::span<std::byte> file,
                                                      const std::string& where);

/// Checks that a tensor has a supported type. ModelError, which starts with `where` and names the
/// tensor: its type is `other`.
void check_type(const StoredTensor& tensor, const std::string& name, const std::string& where);

/// A tensor to be written.
struct TensorToWrite {
  std::string name;
  StoredType type = StoredType::bf16;  ///< neither `rows` nor `other`
  std::vector<std::int64_t> shape;
  /// Writes the tensor's bytes, product(shape) * size_of(type), to the given memory.
  std::function<void(std::span<std::byte>)> fill;
};

/// Joins weights that checkpoints store in one tensor (Parameter::Stack), e.g. the matrices of all
/// experts of a layer. `parameters`: the network's weights; their member `stack` says which weights
/// are joined. `tensors`: one for each weight, with its parameter's name and stored_shape().
/// Tensors that are not joined stay as they are. std::logic_error: a part of a joined tensor is
/// missing. REQUIRES: all parts of a joined tensor have the same StoredType.
std::vector<TensorToWrite> with_stacks(std::vector<TensorToWrite> tensors,
                                       const std::vector<Parameter>& parameters);

/// Writes the tensors in the given order, with one tensor in memory at a time. `file` is either
/// complete or unchanged (write_file). RunError: writing fails. Errors of TensorToWrite::fill pass
/// through.
void write_safetensors(const std::filesystem::path& file,
                       const std::vector<TensorToWrite>& tensors);

}  // namespace pardec
