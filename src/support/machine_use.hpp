#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pardec {

/// What a stretch of time took of the machine, and what others took meanwhile. Empty: the system
/// does not say.
struct MachineUse {
  std::optional<std::int64_t> cpu_ns;     ///< CPU time of this process
  std::optional<std::int64_t> waited_ns;  ///< its computing threads were ready, and others had the
                                          ///< cores, or all of it stood still
  std::optional<std::int64_t> stolen_ns;  ///< cores taken by the host of a virtual machine, or by a
                                          ///< quota of this process's group
  std::optional<double> mhz;              ///< mean clock of the cores, at the end
};

/// Share of the time of `threads` threads in `wall_ns` that others took, at most 1; NaN: not known.
double taken_share(const MachineUse& use, std::int64_t wall_ns, int threads);

/// Cores that were free, or this process's, while `time` went by: what others leave. NaN: not
/// known.
double free_cores(std::chrono::milliseconds time);

/// How many of so many threads find a core each where so many are free, one at least.
int threads_that_fit(double free, int threads);

/// From this share on, a time says more of the machine than of the program.
inline constexpr double kDisturbedShare = 0.05;

/// A process that stands still for less than this may wait for its own threads.
inline constexpr std::int64_t kShortestStall = 100000000;

/// Counts from where it was made what `threads` threads compute: as many of the process's as were
/// busiest, since helpers beside them slow nothing down where they wait. Threads that wait for each
/// other, having fewer cores, wait for nobody else. Time in which none of them ran or was ready is
/// a stall: the process was stopped, frozen, or waited for a disk.
class MachineMeter {
 public:
  explicit MachineMeter(int threads);
  /// `idle_ns`: of the time, what it may have waited for a device or a disk without a stall.
  MachineUse read(std::int64_t idle_ns = 0) const;

 private:
  struct ThreadTime {
    std::int64_t ran_ns = 0, waited_ns = 0;
  };
  static std::map<std::string, ThreadTime> thread_times();
  std::optional<std::int64_t> waited_ns(std::int64_t cpu_ns, std::int64_t elsewhere_ns) const;

  int threads_;
  std::map<std::string, ThreadTime> thread_begins_;  ///< by id
  std::chrono::steady_clock::time_point begin_time_;
  MachineUse begin_;
};

}  // namespace pardec
