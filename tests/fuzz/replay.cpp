// Runs a fuzz target without a fuzzer: on its seeds, on truncated seeds, and on seeds with some
// changed bytes. The inputs are the same every time.
#include <cstdlib>
#include <iostream>
#include <vector>

#include "src/support/files.hpp"
#include "src/support/rng.hpp"
#include "tests/fuzz/input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kCuts = 40, kChanges = 200;

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argc > 1 ? argv[1] : ".")) {
    const std::string seed = pardec::read_file(entry.path());
    pardec::Rng rng(pardec::derive_seed(1, entry.path().filename().string()));
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(rng.below(n)); };
    run(seed);
    for (int i = 0; i < kCuts; ++i) run(seed.substr(0, below(seed.size() + 1)));
    for (int i = 0; i < kChanges && !seed.empty(); ++i) {
      std::string changed = seed;
      for (std::size_t n = 1 + below(4); n > 0; --n)
        changed[below(seed.size())] =
            below(2) ? seed[below(seed.size())] : static_cast<char>(below(256));
      run(changed);
    }
    inputs += 1 + kCuts + kChanges;
  }
  std::filesystem::remove_all(pardec::test::scratch());
  std::cout << inputs << " inputs, clean\n";
  return inputs ? EXIT_SUCCESS : EXIT_FAILURE;
}
