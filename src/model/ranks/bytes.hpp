#pragma once
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pardec {

/// Writes values one after another into a string of bytes, for a ByteReader of the same program.
class ByteWriter {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(&value, sizeof value);
  }
  /// Writes the number of values, and then the values.
  template <typename T>
  void put_all(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<std::uint64_t>(values.size()));
    put_bytes(values.data(), values.size_bytes());
  }
  template <typename T>
  void put_all(const std::vector<T>& values) {
    put_all(std::span<const T>(values));
  }
  void put_text(const std::string& text) { put_all(std::span<const char>(text)); }
  /// Returns the bytes written so far. The writer is empty afterwards.
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  void put_bytes(const void* from, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(from), size);
  }

  std::string bytes_;
};

/// Reads what a ByteWriter wrote. REQUIRES: the calls have the order and the types of the writer's
/// calls. std::logic_error: the bytes are too few.
class ByteReader {
 public:
  explicit ByteReader(std::string bytes) : bytes_(std::move(bytes)) {}

  /// Whether all bytes have been read.
  bool done() const { return at_ == bytes_.size(); }
  template <typename T>
  T get() {
    T value{};
    get_bytes(&value, sizeof value);
    return value;
  }
  template <typename T>
  std::vector<T> get_all() {
    std::vector<T> values(static_cast<std::size_t>(get<std::uint64_t>()));
    get_bytes(values.data(), values.size() * sizeof(T));
    return values;
  }
  std::string get_text() {
    const std::vector<char> text = get_all<char>();
    return {text.begin(), text.end()};
  }

 private:
  void get_bytes(void* to, std::size_t size) {
    if (size > bytes_.size() - at_) throw std::logic_error("ByteReader: the bytes are too few");
    if (size > 0) std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace pardec
