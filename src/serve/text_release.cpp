#include "src/serve/text_release.hpp"

#include <algorithm>

#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec::serve {

namespace {

/// The length of the longest end of `text` that is the beginning of `stop`.
std::size_t begun(std::string_view text, std::string_view stop) {
  std::size_t length = std::min(text.size(), stop.size() - 1);
  while (!text.ends_with(stop.substr(0, length))) --length;
  return length;
}

}  // namespace

std::string TextRelease::add(std::string_view bytes) {
  if (stopped_) return "";
  held_ += bytes;
  // The stop string that is complete first counts, however many bytes come at once.
  std::size_t first = std::string::npos, end = std::string::npos, held = 0;
  for (const std::string& stop : stops_) {
    held = std::max(held, begun(held_, stop));
    const std::size_t begin = held_.find(stop);
    if (begin == std::string::npos) continue;
    const std::size_t complete = begin + stop.size();
    if (complete < end || (complete == end && begin < first)) first = begin, end = complete;
  }
  if (first != std::string::npos) {
    stopped_ = true;
    held_.resize(first);
    return finish();
  }
  const std::string_view certain = std::string_view(held_).substr(0, held_.size() - held);
  const std::size_t whole = finished_utf8(certain);
  const std::string text = repair_utf8(certain.substr(0, whole));
  held_.erase(0, whole);
  return text;
}

std::string TextRelease::finish() {
  const std::string text = repair_utf8(held_);
  held_.clear();
  return text;
}

}  // namespace pardec::serve
