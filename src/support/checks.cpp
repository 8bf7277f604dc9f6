#include "src/support/checks.hpp"

namespace pardec {

void check_apart(std::string_view flag, const std::filesystem::path& file,
                 const std::filesystem::path& db) {
  const auto resolved = [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  for (const char* end : {"", "-wal", "-shm", "-journal"})
    if (resolved(file) == resolved(db.string() + end))
      throw ConfigError(str(flag, ": ", file.string(), " is the database; choose another file"));
}

}  // namespace pardec
