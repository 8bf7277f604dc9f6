#pragma once

namespace pardec::test {

/// Runs the tests of this program as its arguments say, and returns the exit code.
int run_catch(int argc, char** argv);

}  // namespace pardec::test
