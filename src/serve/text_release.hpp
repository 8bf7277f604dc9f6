#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec::serve {

/// The text of a stream of bytes, released as soon as later bytes cannot change it: an incomplete
/// character is held back, and an end that may become a stop string. The text ends before the first
/// stop string. Invalid UTF-8 becomes U+FFFD.
class TextRelease {
 public:
  /// REQUIRES: no stop string is empty.
  explicit TextRelease(std::vector<std::string> stops = {}) : stops_(std::move(stops)) {}

  /// Adds the next bytes. Returns the text that is now certain.
  std::string add(std::string_view bytes);
  /// The held text, as there are no more bytes.
  std::string finish();
  /// Whether a stop string was found; later bytes are ignored.
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace pardec::serve
