#pragma once
#include <functional>
#include <string>

namespace pardec {

/// A function that gets messages for the user during long work, one line at a time. Empty: messages
/// are dropped.
using Notes = std::function<void(const std::string& line)>;

/// Passes `line` to `notes`, unless `notes` is empty.
inline void tell(const Notes& notes, const std::string& line) {
  if (notes) notes(line);
}

}  // namespace pardec
