#pragma once

namespace pardec {

/// This process among the processes that a launcher (Open MPI's or MPICH's mpirun, or srun) started
/// together.
struct Launch {
  bool together = false;  ///< whether a launcher started this process
  int rank = 0;           ///< number of this process, from 0
  int size = 1;           ///< number of processes
};

/// Reads the launch of this process from the variables that launchers set in its environment.
Launch launch();

}  // namespace pardec
