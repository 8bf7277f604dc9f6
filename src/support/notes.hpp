#pragma once
#include <functional>
#include <string>

namespace pardec {

/// A callback that receives messages for the user during long work, one line per call. If it is
/// empty, messages are dropped (`tell`).
using Notes = std::function<void(const std::string& line)>;

/// Passes `line` to `notes`, unless `notes` is empty.
inline void tell(const Notes& notes, const std::string& line) {
  if (notes) notes(line);
}

}  // namespace pardec
