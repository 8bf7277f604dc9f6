#pragma once
#include <string>

namespace pardec::chat {

/// The API key of a service. A key with fewer than eight characters is not treated as a secret,
/// since local servers accept any key, and users write "none" or "x".
class Key {
 public:
  Key() = default;
  /// Reads the key from an environment variable. An empty name means no key. If there is a key,
  /// disables core files for this process. ConfigError: the variable is not set, or is empty, or
  /// its value is not valid in a header.
  explicit Key(const std::string& variable);

  bool empty() const { return value_.empty(); }
  const std::string& value() const { return value_; }
  /// Replaces the key in a text by "[key]". Also replaces the key if its characters are escaped as
  /// in JSON strings (up to three times). Since a text may have been truncated, also replaces the
  /// beginning of the key (at least six characters) at the end of the text.
  std::string redact(std::string text) const;

 private:
  std::string value_;
};

}  // namespace pardec::chat
