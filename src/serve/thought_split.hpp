#pragma once
#include <string>
#include <string_view>

#include "src/support/thought.hpp"

namespace pardec::serve {

/// Splits a streamed answer into the reasoning at its beginning and the content after it. Each part
/// is returned as soon as it is certain. The marks around the reasoning belong to neither.
class ThoughtSplit {
 public:
  struct Parts {
    std::string reasoning, content;
  };

  /// If reading.keep is set, everything is content.
  explicit ThoughtSplit(ThoughtReading reading);

  Parts add(std::string_view text);
  /// Call this at the end of the answer. Returns the rest.
  Parts finish();

 private:
  enum class Place { start, inside, behind, content };
  void step(Parts& parts, bool last);

  ThoughtReading reading_;
  std::string held_;
  std::string closing_;  // the mark that ends the reasoning; empty: any known closing mark
  Place place_;
};

}  // namespace pardec::serve
