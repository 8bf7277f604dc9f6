#pragma once
#include <string>

namespace pardec::chat {

/// A service's key. It never leaves this folder but in a request's head. One of fewer than eight
/// characters is no secret: local servers take any, and people write "none" or "x".
class Key {
 public:
  Key() = default;
  /// The value of an environment variable; empty name: no key. From then on the process leaves no
  /// core file. ConfigError: not set, or nothing that can stand in a header.
  explicit Key(const std::string& variable);

  bool empty() const { return value_.empty(); }
  const std::string& value() const { return value_; }
  /// The text without the key, also as JSON strings write it, and without a beginning of it where
  /// the text was cut.
  std::string redact(std::string text) const;

 private:
  std::string value_;
};

}  // namespace pardec::chat
