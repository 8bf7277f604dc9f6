#pragma once
#include <string>

namespace pardec {

/// The amount of free memory as text, e.g. "5120 MB free"; "unknown" if the system does not report
/// it.
std::string available_memory();

/// Whether other programs leave enough cores free now, and a text about these cores for the user.
struct LeftByOthers {
  bool known;  ///< whether the system reports the load of other programs
  bool fits;   ///< whether each of the `threads` threads has a free core; true if not known
  /// the number of free cores, or that this number is not known; if the cores are too few, also the
  /// number of threads that fit
  std::string text;
};
/// Measures the load of other programs, which takes 0.3 s. `threads`: number of threads, each of
/// which needs a core.
LeftByOthers left_by_others(int threads);

}  // namespace pardec
