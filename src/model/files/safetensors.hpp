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

// The file format (safetensors, Hugging Face):
//   8 bytes   n, little-endian: length of the header
//   n bytes   JSON object: tensor name -> {"dtype", "shape", "data_offsets": [begin, end)}, and
//   "__metadata__" rest      data, row-major, little-endian; offsets count from here; tensors cover
//   it without hole or overlap

/// `other`: a type that no weight of a network has here.
enum class StoredType { bf16, f16, f32, f64, other };
/// REQUIRES of both: not `other`.
std::string_view name(StoredType type);
/// Bytes of one element.
std::int64_t size_of(StoredType type);

/// A tensor in a file: where its bytes are. They live as long as the file's mapping.
struct StoredTensor {
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;
  std::span<std::byte> data;  ///< shape's product times size_of(type) bytes, any alignment
  std::string dtype;          ///< as the file writes it
};

/// Reads the header that `file` starts with, and checks everything that it says against the file's
/// length. A file that is truncated or lies is a ModelError of one line: `where`, what was found,
/// what was expected.
std::map<std::string, StoredTensor> parse_safetensors(std::span<std::byte> file,
                                                      const std::string& where);

/// ModelError, which names the tensor, where it is of type `other`.
void check_numbers(const StoredTensor& tensor, const std::string& name, const std::string& where);

/// A whole file in memory, mapped on demand; private: what is written to it never reaches the file.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<std::byte> bytes() const { return bytes_; }
  /// `part` of it is not needed any more: its memory is given back. (Read again, it is what the
  /// file has.)
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

/// Writes the tensors in the given order, one in memory at a time, to `file.tmp`; then syncs and
/// renames. RunError when that fails.
void write_safetensors(const std::filesystem::path& file,
                       const std::vector<TensorToWrite>& tensors);

}  // namespace pardec
