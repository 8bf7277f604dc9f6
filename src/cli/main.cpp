#include "src/cli/program.hpp"

int main(int argc, char** argv) { return pardec::run_program(argc, argv); }
