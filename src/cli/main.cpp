#include "src/cli/program.hpp"

int main(int argc, char** argv) { pardec::run_program_and_leave(argc, argv); }
