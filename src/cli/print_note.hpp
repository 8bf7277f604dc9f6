#pragma once
#include <cstdio>
#include <string>

#include "src/cli/with_flags.hpp"

namespace pardec {

/// Prints a note as one line to stderr. Names of settings in the note are replaced by flags
/// (with_flags). The function can be passed as Notes (src/support/notes.hpp).
inline void print_note(const std::string& line) {
  std::fprintf(stderr, "%s\n", with_flags(line).c_str());
}

}  // namespace pardec
