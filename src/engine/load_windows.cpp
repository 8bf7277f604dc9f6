#include "src/engine/load_windows.hpp"

#include <algorithm>

namespace pardec {

void LoadWindows::add(std::int64_t now, std::int64_t rows, bool waiting, std::int64_t tokens) {
  while (last_ < now || windows_.empty()) {
    if (windows_.empty() || windows_.back().ns == kWindowNs) windows_.emplace_back();
    LoadSums& window = windows_.back();
    const std::int64_t ns = std::min(now - last_, kWindowNs - window.ns);
    window.ns += ns;
    window.row_ns += rows * ns;
    window.waiting_ns += waiting ? ns : 0;
    last_ += ns;
  }
  windows_.back().tokens += tokens;
}

}  // namespace pardec
