#include "tests/support/catch_session.hpp"

int main(int argc, char** argv) { return pardec::test::run_catch(argc, argv); }
