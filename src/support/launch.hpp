#pragma once

namespace pardec {

/// What a launcher (Open MPI's or MPICH's mpirun, or srun) says of the processes that it started
/// together, in the environment of each.
struct Launch {
  bool together = false;  ///< whether a launcher started this process
  int rank = 0;           ///< number of this process, from 0
  int size = 1;           ///< number of processes
};

/// The launch of this process.
Launch launch();

}  // namespace pardec
