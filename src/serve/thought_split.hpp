#pragma once
#include <string>
#include <string_view>

#include "src/support/thought.hpp"

namespace pardec::serve {

/// Separates an answer that comes in parts into the reasoning at its beginning and the text after
/// it, each as soon as it is certain. The marks belong to neither.
class ThoughtSplit {
 public:
  struct Parts {
    std::string reasoning, content;
  };

  /// With `reading.keep`, everything is content.
  explicit ThoughtSplit(ThoughtReading reading);

  Parts add(std::string_view text);
  /// The rest, as there is no more text.
  Parts finish();

 private:
  enum class Place { start, inside, behind, content };
  void step(Parts& parts, bool last);

  ThoughtReading reading_;
  std::string held_;
  std::string closing_;  // the mark that ends the reasoning; empty: that of any family
  Place place_;
};

}  // namespace pardec::serve
