#pragma once
#include <string>
#include <string_view>

namespace pardec {

class Team;

/// The threads of the program that compute, as many as libtorch would take where set_threads says
/// nothing. libtorch itself computes on the thread that calls it, from the first call on.
Team& team();
/// Their number. 0 keeps what it is. REQUIRES: no forward runs.
void set_threads(int threads);
int threads();

/// "1.2.3" of the libtorch that runs, and whether it can use a GPU here.
std::string libtorch_version();
bool cuda_available();

/// Whether a network in bf16 is faster on this device than in fp32: the processor has products of
/// bf16 pairs, or it is a GPU.
bool computes_bf16_fast(std::string_view device);

}  // namespace pardec
