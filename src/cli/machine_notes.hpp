#pragma once
#include <string>

namespace pardec {

/// Text about the amount of free memory.
std::string available_memory();

/// The share of the cores that other programs leave free now. Measuring it takes 0.3 s.
struct LeftByOthers {
  bool known;  ///< whether the system reports the load of other programs
  bool fits;   ///< whether each of the `threads` threads has a free core
  std::string text;
};
LeftByOthers left_by_others(int threads);

}  // namespace pardec
