#pragma once
#include <cstdio>
#include <string>

namespace pardec {

/// A Notes on stderr.
inline void print_note(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

}  // namespace pardec
