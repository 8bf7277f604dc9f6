#include "src/support/child_program.hpp"

#include <cerrno>
#include <cstdlib>

#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("another program gets its input, and those environment variables that are no secret") {
  ::setenv("PARDEC_TEST_KEY", "sk-secret", 1);
  ::setenv("LC_PARDEC_TEST", "kept", 1);
  const ChildRun run = run_child({"sh", "-c", "cat; env; echo complaint >&2; exit 3"}, "input\n");
  ::unsetenv("PARDEC_TEST_KEY");
  ::unsetenv("LC_PARDEC_TEST");
  CHECK(run.error == 0);
  CHECK_FALSE(run.good());
  CHECK(run.complaint == "complaint\n");
  CHECK(run.out.starts_with("input\n"));
  CHECK(run.out.find("sk-secret") == std::string::npos);
  CHECK(run.out.find("LC_PARDEC_TEST=kept\n") != std::string::npos);
  CHECK(run.out.find("PATH=") != std::string::npos);
}

TEST_CASE("a missing program is not an error of pardec") {
  CHECK(run_child({"pardec-no-such-program"}, "").error == ENOENT);
}
