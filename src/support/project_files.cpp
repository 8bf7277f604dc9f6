#include "src/support/project_files.hpp"

#include <cstdlib>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// PREFIX/share/pardec for the running program PREFIX/bin/pardec, which may have been installed or
/// unpacked in another place than configured.
std::filesystem::path share_of_program() {
  return program_file().parent_path().parent_path() / "share" / "pardec";
}

}  // namespace

std::filesystem::path program_file() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

std::filesystem::path project_file(const std::filesystem::path& relative) {
  std::vector<std::filesystem::path> roots;
  if (const char* set = std::getenv("PARDEC_SHARE"); set && *set)
    roots.emplace_back(set);
  else
    roots = {PARDEC_SOURCE_SHARE, PARDEC_INSTALL_SHARE, share_of_program()};
  for (const auto& root : roots)
    if (std::error_code ignored; std::filesystem::exists(root / relative, ignored))
      return root / relative;
  std::vector<std::string> looked;
  for (const auto& root : roots) looked.push_back((root / relative).string());
  throw ConfigError(str(relative.string(), " of the project is missing; looked at ",
                        join(looked, ", "), "; set PARDEC_SHARE to the folder that holds it"));
}

}  // namespace pardec
