#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

// The GGUF file format (ggml, docs/gguf.md), version 2 or 3, little-endian:
//   4 bytes   "GGUF"
//   u32       version
//   u64 u64   number of tensors, number of metadata entries
//   entries   key, u32 type, value; a string is a u64 length and its bytes; an array is a u32 type,
//             a u64 count and its values
//   tensors   name, u32 number of sizes, u64 sizes (the innermost first), u32 type, u64 offset
//   padding   up to a multiple of `general.alignment` (32 if there is no such entry)
//   rest      data; offsets count from here and are multiples of the alignment

/// A type of tensors. The numbers of a tensor are stored in blocks: each block has `block` numbers
/// in `bytes` bytes.
struct GgmlType {
  std::uint32_t code;
  const char* name;
  std::int64_t block, bytes;
};
/// The type with this code; null: the code is unknown.
const GgmlType* find_ggml_type(std::uint32_t code);

/// A tensor of a GGUF file. `type` is not null.
struct GgufTensor {
  std::string name;
  const GgmlType* type = nullptr;
  std::vector<std::int64_t> shape;  ///< the outermost first
  std::span<std::byte> data;        ///< a part of the file
};

/// The metadata and the tensors of a GGUF file. The constructor only finds and checks the entries;
/// each call of a function below reads the value of one metadata entry. Texts and tensors are views
/// into the file.
class Gguf {
 public:
  /// Reads the list of metadata and tensors from `file`, the bytes of a whole file, which must
  /// outlive this object. `where`: the file's name for errors. ModelError, which starts with
  /// `where`: the file is not GGUF of version 2 or 3; a count, length, size, type, offset or
  /// alignment is unknown or impossible, e.g. because the file is truncated; a key or the name of a
  /// tensor occurs twice; a value is an array of arrays; or tensors overlap.
  Gguf(std::span<std::byte> file, std::string where);

  bool has(std::string_view key) const { return metadata_.contains(key); }
  /// `whole`, `number`, `flag` and `text` return the value of a key; none if the file does not have
  /// the key. ModelError, which names the key: the value is an array, has another type, or (for
  /// `whole`) is 2^63 or more.
  std::optional<std::int64_t> whole(std::string_view key) const;
  /// `number` also reads whole numbers. It reads a 32-bit floating-point number as the shortest
  /// decimal fraction that denotes it: 1e-5, and not 9.99999974e-6.
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  std::optional<std::string_view> text(std::string_view key) const;
  /// `texts`, `wholes` and `numbers` return the array of a key; empty if the file does not have the
  /// key. `wholes` also reads an array of booleans, as 0 and 1. `numbers` also reads whole numbers.
  /// ModelError, which names the key: the value is not an array, its elements have another type, or
  /// (for `wholes`) an element is 2^63 or more.
  std::vector<std::string_view> texts(std::string_view key) const;
  std::vector<std::int64_t> wholes(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  /// Whether the file has the key and its value is an array.
  bool is_array(std::string_view key) const;

  const std::map<std::string, GgufTensor, std::less<>>& tensors() const { return tensors_; }
  const std::string& where() const { return where_; }

 private:
  struct Value {
    std::uint32_t type;  // of the value, or of an array's elements
    bool array;
    std::uint64_t count;  // 1 if the value is not an array
    std::span<const std::byte> bytes;
  };
  class Reader;
  const Value* find(std::string_view key, bool array) const;
  void read_metadata(Reader& read, std::uint64_t count);
  void read_tensors(Reader& read, std::uint64_t count);

  std::string where_;
  std::map<std::string, Value, std::less<>> metadata_;
  std::map<std::string, GgufTensor, std::less<>> tensors_;
};

/// The GGUF file that the path `model` refers to: the path itself if it is a file with the
/// extension .gguf; or, for a folder without config.json, the only file with this extension in the
/// folder. None: there is no such file, or the folder has more than one.
std::optional<std::filesystem::path> gguf_file(const std::filesystem::path& model);

}  // namespace pardec
