#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec::serve {

/// Converts a stream of bytes to text, and returns text as soon as later bytes cannot change it. An
/// incomplete character at the end is held back. So is an end of the text that may be the beginning
/// of a stop string. The text ends before the first stop string. Invalid UTF-8 becomes U+FFFD.
class TextRelease {
 public:
  /// REQUIRES: no stop string is empty.
  explicit TextRelease(std::vector<std::string> stops = {}) : stops_(std::move(stops)) {}

  /// Adds the next bytes, and returns the text that is now certain.
  std::string add(std::string_view bytes);
  /// Call this at the end of the stream. Returns the text that was held back.
  std::string finish();
  /// Whether a stop string was found. If so, later bytes are ignored.
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace pardec::serve
