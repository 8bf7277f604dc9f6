#pragma once
#include <string>
#include <string_view>

#include "src/support/thought.hpp"

namespace pardec::serve {

/// Splits a streamed answer into the reasoning at its beginning and the content after the
/// reasoning. Text is returned as soon as it is certain to which of the two it belongs. The marks
/// around the reasoning and the white space after it are dropped.
class ThoughtSplit {
 public:
  struct Parts {
    std::string reasoning, content;
  };

  /// `reading`: the marks of reasoning. If reading.keep is true, everything is content. If
  /// reading.opened is true, the answer begins with reasoning, without an opening mark.
  explicit ThoughtSplit(ThoughtReading reading);

  /// Adds the next text of the answer, and returns what is now certain.
  Parts add(std::string_view text);
  /// Call this at the end of the answer. Returns the text that was held back.
  Parts finish();

 private:
  enum class Place { start, inside, after, content };
  void step(Parts& parts, bool last);

  ThoughtReading reading_;
  std::string held_;
  std::string closing_;  // the mark that ends the reasoning; empty: any known closing mark
  Place place_;
};

}  // namespace pardec::serve
