#pragma once
#include <string>
#include <string_view>

#include "src/support/thought.hpp"

namespace pardec::serve {

/// Splits a streamed answer into the reasoning at its beginning and the content after the
/// reasoning. A piece of text is returned as soon as it is certain whether the piece belongs to the
/// reasoning or to the content. Three things are dropped: the marks around the reasoning, the white
/// space before the opening mark, and the white space after the closing mark. The reasoning ends at
/// the first closing mark. (With thought_of, which sees the whole answer, the reasoning ends at the
/// last closing mark.)
class ThoughtSplit {
 public:
  /// The next part of the reasoning and the next part of the content. One or both may be empty.
  struct Parts {
    std::string reasoning, content;
  };

  /// `reading`: the marks of reasoning. If reading.keep is true, everything is content. If
  /// reading.opened is true, the answer begins with reasoning, without an opening mark.
  explicit ThoughtSplit(ThoughtReading reading);

  /// Adds the next text of the answer, and returns the further text that is now certain.
  Parts add(std::string_view text);
  /// Returns the text that was held back. Call this once, at the end of the answer.
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
