#pragma once
#include <exception>
#include <iostream>
#include <string>

#include "src/support/json.hpp"

namespace pardec::test {

/// The main function of a probe program: reads one request (JSON) per line from standard input, and
/// writes one answer (JSON) per line to standard output. Returns the exit code: 0, or 2 after an
/// exception, whose message is printed to stderr.
inline int answer_lines(Json (*answer)(const Json&)) {
  try {
    for (std::string line; std::getline(std::cin, line);)
      std::cout << dump(answer(Json::parse(line))) << "\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  return 0;
}

}  // namespace pardec::test
