// The main function of tests that mpirun may start as several processes: rank 0 runs the tests, and
// the others follow it.
#include "src/model/device.hpp"
#include "tests/support/catch_session.hpp"
#include "tests/support/ranks.hpp"

int main(int argc, char** argv) {
  const auto ranks = pardec::Ranks::join();
  if (!ranks) return pardec::test::run_catch(argc, argv);
  pardec::set_threads(1);
  if (!ranks->leads()) {
    pardec::follow(*ranks);
    return 0;
  }
  pardec::test::ranks() = ranks.get();
  return pardec::test::run_catch(argc, argv);
}
