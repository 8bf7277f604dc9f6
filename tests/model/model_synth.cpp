// model_synth CONFIG.json SEED FOLDER: writes a random checkpoint, for tests that load it with
// other programs.
#include <iostream>
#include <string>

#include "src/model/model.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    pardec::synthesise_checkpoint(pardec::read_json(argv[1]), std::stoull(argv[2]), argv[3]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
