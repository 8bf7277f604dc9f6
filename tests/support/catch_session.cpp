// Catch2 itself, which takes long to compile.
#define CATCH_CONFIG_RUNNER
#include "tests/support/catch.hpp"

#include "tests/support/catch_session.hpp"

int pardec::test::run_catch(int argc, char** argv) { return Catch::Session().run(argc, argv); }
