#include "src/support/project_files.hpp"

#include <cstdlib>

#include "src/support/error.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("files of the project are looked for in the sources and beside the program") {
  unsetenv("PARDEC_SHARE");
  CHECK(project_file("README.md") == std::filesystem::path(PARDEC_SOURCE_DIR) / "README.md");
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string beside = (program.parent_path().parent_path() / "share/pardec").string();
  CHECK_THROWS_WITH(project_file("nothing"),
                    Catch::Contains(PARDEC_SOURCE_DIR) && Catch::Contains(beside + "/nothing"));
  setenv("PARDEC_SHARE", "/nowhere", 1);
  CHECK_THROWS_AS(project_file("README.md"), ConfigError);
  unsetenv("PARDEC_SHARE");
}
