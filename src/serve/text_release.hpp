#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec::serve {

/// Converts the bytes of an answer, which arrive in parts, to text. Each part of the text is
/// returned as soon as later bytes cannot change this part. At the end of the bytes so far, two
/// things are held back: an incomplete character, and a text that may be the beginning of a stop
/// string. The whole text ends before the first stop string, that is, the stop string whose last
/// byte comes first. Invalid UTF-8 becomes U+FFFD.
class TextRelease {
 public:
  /// `stops`: the stop strings. REQUIRES: no stop string is empty.
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
