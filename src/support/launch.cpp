#include "src/support/launch.hpp"

#include <cstdlib>

namespace pardec {

Launch launch() {
  // srun with PMIx gives the number of processes only in a variable of Slurm.
  constexpr const char* kVariables[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"PMIX_RANK", "SLURM_NTASKS"}};
  for (const auto& [rank, size] : kVariables)
    if (const char* number = std::getenv(rank)) {
      const char* processes = std::getenv(size);
      return {true, std::atoi(number), processes ? std::atoi(processes) : 1};
    }
  return {};
}

}  // namespace pardec
