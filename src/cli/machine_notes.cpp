#include "src/cli/machine_notes.hpp"

#include <chrono>
#include <cmath>
#include <fstream>

#include "src/support/machine_use.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string available_memory() {
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("MemAvailable:", 0) == 0)
      return str(std::stol(line.substr(13)) / 1024, " MB free");
  return "unknown";
}

LeftByOthers left_by_others(int threads) {
  const double free = free_cores(std::chrono::milliseconds(300));
  if (std::isnan(free)) return {false, true, "the system does not say how busy its cores are"};
  const int fitting = threads_that_fit(free, threads);
  const std::string leave = str("other programs leave ", fixed(free, 1), " cores free now");
  if (fitting == threads) return {true, true, leave};
  return {true, false,
          str(leave, " for ", counted(threads, "thread"), ": --threads ", fitting,
              " would fit; more threads would be disturbed")};
}

}  // namespace pardec
