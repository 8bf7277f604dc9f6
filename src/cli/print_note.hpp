#pragma once
#include <cstdio>
#include <string>

#include "src/cli/with_flags.hpp"

namespace pardec {

/// A Notes on stderr, with flags for the settings that it names.
inline void print_note(const std::string& line) {
  std::fprintf(stderr, "%s\n", with_flags(line).c_str());
}

}  // namespace pardec
