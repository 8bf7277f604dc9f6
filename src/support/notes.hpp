#pragma once
#include <functional>
#include <string>

namespace pardec {

/// Takes what a reader of long work should know, a line at a time; empty: nobody reads.
using Notes = std::function<void(const std::string& line)>;

inline void tell(const Notes& notes, const std::string& line) {
  if (notes) notes(line);
}

}  // namespace pardec
