#pragma once
#include <string>
#include <string_view>

namespace pardec {

class Team;

/// The program's compute threads. Without set_threads, their number is the one that libtorch would
/// choose. From the first call on, libtorch itself computes only on its calling thread.
Team& team();
/// Sets the number of compute threads. 0 keeps the current number. REQUIRES: no forward pass is
/// running.
void set_threads(int threads);
int threads();

/// Version of the libtorch in use, e.g. "1.2.3", and whether it can use a GPU here.
std::string libtorch_version();
bool cuda_available();

/// Whether a network is faster in bf16 than in fp32 on this device: the device is a GPU, or the
/// processor has bf16 dot products.
bool computes_bf16_fast(std::string_view device);

}  // namespace pardec
