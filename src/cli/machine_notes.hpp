#pragma once
#include <string>

namespace pardec {

/// Free memory, as words.
std::string available_memory();

/// What other programs leave of the cores just now; reading it takes .3 s.
struct LeftByOthers {
  bool known;  ///< whether the system says so
  bool fits;   ///< each of the threads finds a core
  std::string text;
};
LeftByOthers left_by_others(int threads);

}  // namespace pardec
