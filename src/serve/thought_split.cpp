#include "src/serve/thought_split.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace pardec::serve {

namespace {

constexpr std::string_view kSpaces = " \t\r\n";

}  // namespace

ThoughtSplit::ThoughtSplit(ThoughtReading reading)
    : reading_(std::move(reading)),
      place_(reading_.keep     ? Place::content
             : reading_.opened ? Place::inside
                               : Place::start) {}

ThoughtSplit::Parts ThoughtSplit::add(std::string_view text) {
  held_ += text;
  Parts parts;
  step(parts, /*last=*/false);
  return parts;
}

ThoughtSplit::Parts ThoughtSplit::finish() {
  Parts parts;
  step(parts, /*last=*/true);
  return parts;
}

void ThoughtSplit::step(Parts& parts, bool last) {
  if (place_ == Place::start) {
    const std::size_t begin = std::min(held_.find_first_not_of(kSpaces), held_.size());
    const std::string_view text = std::string_view(held_).substr(begin);
    bool may_open = false;
    for (const auto& [opening, closing] : reading_.marks) {
      may_open |= opening.starts_with(text);
      if (!text.starts_with(opening)) continue;
      closing_ = closing;
      held_.erase(0, begin + opening.size());
      place_ = Place::inside;
      break;
    }
    if (place_ == Place::start) {
      if (may_open && !last) return;
      place_ = Place::content;
    }
  }
  if (place_ == Place::inside) {
    std::vector<std::string> closings{closing_};
    if (closing_.empty()) {
      closings.clear();
      for (const auto& [opening, closing] : reading_.marks) closings.push_back(closing);
    }
    std::size_t end = std::string::npos, length = 0, begun = 0;
    for (const std::string& closing : closings) {
      if (const std::size_t found = held_.find(closing); found < end) {
        end = found;
        length = closing.size();
      }
      for (std::size_t n = std::min(held_.size(), closing.size() - 1); n > begun; --n)
        if (held_.ends_with(std::string_view(closing).substr(0, n))) begun = n;
    }
    const bool closed = end != std::string::npos;
    if (!closed) end = held_.size() - (last ? 0 : begun);
    parts.reasoning += held_.substr(0, end);
    held_.erase(0, end + length);
    if (!closed) return;
    place_ = Place::after;
  }
  if (place_ == Place::after) {  // line breaks after the reasoning are dropped
    held_.erase(0, std::min(held_.find_first_not_of(kSpaces), held_.size()));
    if (held_.empty()) return;
    place_ = Place::content;
  }
  parts.content += std::exchange(held_, {});
}

}  // namespace pardec::serve
