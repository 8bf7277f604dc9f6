#include "src/support/processor.hpp"

#include <fstream>

#include "src/support/text.hpp"

namespace pardec {

std::string line_of(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (key.empty()) return line;
    if (line.rfind(key, 0) == 0 && line.find(':') != std::string::npos)
      return std::string(strip(line.substr(line.find(':') + 1)));
  }
  return "";
}

std::string processor_name() { return line_of("/proc/cpuinfo", "model name"); }

}  // namespace pardec
