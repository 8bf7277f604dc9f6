#pragma once
#include <cstdio>
#include <string>

#include "src/cli/with_flags.hpp"

namespace pardec {

/// Prints notes to stderr, with flags instead of names of settings. Can be used as Notes.
inline void print_note(const std::string& line) {
  std::fprintf(stderr, "%s\n", with_flags(line).c_str());
}

}  // namespace pardec
