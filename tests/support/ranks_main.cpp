// The main function of tests that mpirun may start as several processes: rank 0 runs the tests, and
// the others follow it.
#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"
#include "tests/support/ranks.hpp"

#include "src/model/device.hpp"

int main(int argc, char** argv) {
  const auto ranks = pardec::Ranks::join();
  if (!ranks) return Catch::Session().run(argc, argv);
  pardec::set_threads(1);
  if (!ranks->leads()) {
    pardec::follow(*ranks);
    return 0;
  }
  pardec::test::ranks() = ranks.get();
  return Catch::Session().run(argc, argv);
}
