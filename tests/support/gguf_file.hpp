#pragma once
// Bytes of GGUF files, for tests.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pardec::test {

template <typename T>
std::string little_endian(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// A string as GGUF writes it: its length and its bytes.
inline std::string gguf_string(std::string_view text) {
  return little_endian<std::uint64_t>(text.size()) + std::string(text);
}

/// A metadata entry. `type`: GGUF's number of the value's type. `value`: the bytes of the value.
inline std::string gguf_entry(std::string_view key, std::uint32_t type, const std::string& value) {
  return gguf_string(key) + little_endian(type) + value;
}
inline std::string gguf_entry(std::string_view key, std::uint32_t value) {
  return gguf_entry(key, 4, little_endian(value));
}
inline std::string gguf_entry(std::string_view key, std::string_view value) {
  return gguf_entry(key, 8, gguf_string(value));
}

/// The description of a tensor. The innermost size comes first. `type`: GGUF's number of the type.
/// `offset`: of the tensor's bytes in GgufBytes::data.
inline std::string gguf_tensor(std::string_view name, const std::vector<std::uint64_t>& sizes,
                               std::uint32_t type, std::uint64_t offset) {
  std::string all = gguf_string(name) + little_endian(static_cast<std::uint32_t>(sizes.size()));
  for (const std::uint64_t size : sizes) all += little_endian(size);
  return all + little_endian(type) + little_endian(offset);
}

/// A GGUF file.
struct GgufBytes {
  std::vector<std::string> entries, tensors;  ///< from gguf_entry and gguf_tensor
  std::string data;
  std::uint32_t version = 3;
  std::string magic = "GGUF";

  std::string bytes() const {
    std::string all = magic + little_endian(version) +
                      little_endian<std::uint64_t>(tensors.size()) +
                      little_endian<std::uint64_t>(entries.size());
    for (const std::string& entry : entries) all += entry;
    for (const std::string& tensor : tensors) all += tensor;
    while (all.size() % 32 != 0) all += '\0';
    return all + data;
  }
};

}  // namespace pardec::test
