#pragma once
#include <string>

namespace pardec {

/// The amount of free memory, in words.
std::string available_memory();

/// The share of the cores that other programs leave free at present. Measuring it takes 0.3 s.
struct LeftByOthers {
  bool known;  ///< whether the system reports it
  bool fits;   ///< whether there is a free core for each thread
  std::string text;
};
LeftByOthers left_by_others(int threads);

}  // namespace pardec
