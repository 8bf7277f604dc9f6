#pragma once
#include <string>

namespace pardec {

/// The amount of free memory as text, e.g. "5120 MB free"; "unknown" if the system does not report
/// it.
std::string available_memory();

/// The result of left_by_others.
struct LeftByOthers {
  bool known;  ///< whether the system reports the load of other programs
  bool fits;   ///< whether there is a free core for each thread; true if not `known`
  /// A message for the user: the number of free cores, or that this number is not known. If there
  /// are fewer free cores than threads, also the number of threads for which there are enough.
  std::string text;
};
/// Measures, in 0.3 s, how many cores other programs leave free now. `threads`: number of threads
/// of this program, each of which needs a core.
LeftByOthers left_by_others(int threads);

}  // namespace pardec
