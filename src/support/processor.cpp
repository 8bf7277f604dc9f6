#include "src/support/processor.hpp"

#include <algorithm>
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

std::vector<std::string> gpu_names(const std::filesystem::path& driver) {
  std::vector<std::filesystem::path> folders;
  std::error_code none;  // there is no such driver
  for (const auto& entry : std::filesystem::directory_iterator(driver, none))
    folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::vector<std::string> names;
  for (const auto& folder : folders)
    if (std::string name = line_of((folder / "information").string(), "Model"); !name.empty())
      names.push_back(std::move(name));
  return names;
}

std::string gpu_driver(const std::filesystem::path& file) {
  for (const std::string& word : split(line_of(file.string(), "NVRM version"), ' '))
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  return "";
}

}  // namespace pardec
