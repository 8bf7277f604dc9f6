#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec::serve {

/// Converts bytes that arrive in parts to text, and returns each part of the text as soon as later
/// bytes cannot change this part. Two things are held back at the end of the bytes: an incomplete
/// character, and a text that may be the beginning of a stop string. The whole text ends before the
/// first stop string, that is, the stop string whose last byte comes first. Invalid UTF-8 becomes
/// U+FFFD.
class TextRelease {
 public:
  /// REQUIRES: no stop string is empty.
  explicit TextRelease(std::vector<std::string> stops = {}) : stops_(std::move(stops)) {}

  /// Adds the next bytes, and returns the further text that is now certain.
  std::string add(std::string_view bytes);
  /// Returns the text that was held back. Call this once, after the last bytes.
  std::string finish();
  /// Whether a stop string was found. If so, later bytes are ignored.
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace pardec::serve
