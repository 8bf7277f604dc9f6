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

namespace pardec {

// The safetensors file format (Hugging Face):
//   8 bytes   n, little-endian: length of the header
//   n bytes   JSON object: tensor name -> {"dtype", "shape", "data_offsets": [begin, end)}, and
//             "__metadata__"
//   rest      data, row-major, little-endian; offsets count from here; the tensors cover it
//             without gap or overlap

/// `other`: a type that is not supported for weights.
enum class StoredType { bf16, f16, f32, f64, other };
/// The type's name in safetensors files. REQUIRES: not `other`.
std::string_view name(StoredType type);
/// Bytes per element. REQUIRES: not `other`.
std::int64_t size_of(StoredType type);

/// A tensor in a mapped file. `data` is valid as long as the file is mapped.
struct StoredTensor {
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;
  std::span<std::byte> data;  ///< product(shape) * size_of(type) bytes, unaligned
  std::string dtype;          ///< as written in the file
};

/// Reads the header at the beginning of `file`, and checks all of its offsets and shapes against
/// the file's length. ModelError: the file is truncated or inconsistent. Its one-line message says
/// `where`, what was found, and what was expected.
std::map<std::string, StoredTensor> parse_safetensors(std::span<std::byte> file,
                                                      const std::string& where);

/// Throws a ModelError, which names the tensor, if the tensor's type is `other`.
void check_numbers(const StoredTensor& tensor, const std::string& name, const std::string& where);

/// A whole file in memory, mapped on demand. The mapping is private: changes in memory never reach
/// the file.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<std::byte> bytes() const { return bytes_; }
  /// Frees the memory that holds `part`. Reading `part` again loads the file's content.
  void release(std::span<std::byte> part) const;

 private:
  std::span<std::byte> bytes_;
};

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
