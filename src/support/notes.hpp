#pragma once
#include <functional>
#include <string>

namespace pardec {

/// Receives messages about long work for its user, one line at a time. Empty: messages are dropped.
using Notes = std::function<void(const std::string& line)>;

inline void tell(const Notes& notes, const std::string& line) {
  if (notes) notes(line);
}

}  // namespace pardec
