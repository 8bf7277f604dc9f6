#pragma once
#include <cstdio>
#include <string>

#include "src/cli/with_flags.hpp"

namespace pardec {

/// Prints a note to stderr, with names of settings replaced by flags (with_flags). Can be passed as
/// Notes (src/support/notes.hpp).
inline void print_note(const std::string& line) {
  std::fprintf(stderr, "%s\n", with_flags(line).c_str());
}

}  // namespace pardec
