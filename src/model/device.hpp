#pragma once
#include <string>

namespace pardec {

/// Threads of the one pool that all kernels share. 0 keeps libtorch's choice. Call once, before the
/// first forward.
void set_threads(int threads);
int threads();

/// "1.2.3" of the libtorch that runs, and whether it can use a GPU here.
std::string libtorch_version();
bool cuda_available();

}  // namespace pardec
