#pragma once
#include <string>

namespace pardec::chat {

/// The key of a service. It leaves this folder only in request headers. A key with fewer than eight
/// characters is not treated as secret: local servers accept any key, and people write "none" or
/// "x".
class Key {
 public:
  Key() = default;
  /// Reads an environment variable; with an empty name, there is no key. From then on, the process
  /// writes no core file. ConfigError: the variable is not set, or its value is not valid in a
  /// header.
  explicit Key(const std::string& variable);

  bool empty() const { return value_.empty(); }
  const std::string& value() const { return value_; }
  /// The text with the key replaced. Also finds the key as escaped in JSON strings, and the
  /// beginning of a key at the end of a truncated text.
  std::string redact(std::string text) const;

 private:
  std::string value_;
};

}  // namespace pardec::chat
