#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pardec {

/// The resources that this process used during a period, and the resources that others took from
/// it. A value is none if the system does not report it.
struct MachineUse {
  std::optional<std::int64_t> cpu_ns;  ///< CPU time of this process
  /// Time for which a compute thread was ready to run but other processes used the cores, summed
  /// over the compute threads. Includes stalls of the whole process (see MachineMeter): the time of
  /// a stall is multiplied by the number of compute threads or of cores, whichever is smaller.
  std::optional<std::int64_t> waited_ns;
  /// Core time that the host of a virtual machine took, or that a CPU quota of the process's
  /// control group withheld.
  std::optional<std::int64_t> stolen_ns;
  std::optional<double> mhz;  ///< mean clock frequency of the cores at the end
};

/// The share of core time that others took, from 0 to 1: (waited_ns + stolen_ns) / (wall_ns *
/// threads). If only one of waited_ns and stolen_ns is none, it counts as 0. NaN: both are none, or
/// wall_ns is 0. REQUIRES: threads > 0.
double taken_share(const MachineUse& use, std::int64_t wall_ns, int threads);

/// Waits for `time`. Returns the mean number of cores that other processes left free in this time.
/// Cores that this process used count as free. NaN: unknown.
double free_cores(std::chrono::milliseconds time);

/// The number of threads, from 1 to `threads`, that run without sharing a core if `free` cores are
/// free. `free` is rounded to a whole number. If `free` is NaN, returns `threads`.
int threads_that_fit(double free, int threads);

/// A measurement is disturbed if others take at least this share of the core time.
inline constexpr double kDisturbedShare = 0.05;

/// The shortest stall, in nanoseconds. A shorter time without a running thread does not count as a
/// stall, because threads of the process may be waiting for each other.
inline constexpr std::int64_t kShortestStall = 100000000;

/// Measures the machine use of a computation with `threads` threads, from the construction of this
/// object to a call of `read`. Only the `threads` busiest threads of the process are counted,
/// because other threads that wait for a core do not slow the computation down. If there are fewer
/// cores than threads, the time for which these threads wait for each other is not part of
/// `waited_ns`. A time in which no thread ran or was ready is a stall: the process was stopped or
/// frozen, or waited for a disk.
class MachineMeter {
 public:
  explicit MachineMeter(int threads);
  /// The use since the construction. `idle_ns`: the time for which the process waited for a device
  /// or disk on purpose; this time does not count as a stall.
  MachineUse read(std::int64_t idle_ns = 0) const;

 private:
  struct ThreadTime {
    std::int64_t ran_ns = 0, waited_ns = 0;
  };
  static std::map<std::string, ThreadTime> thread_times();
  std::optional<std::int64_t> waited_ns(std::int64_t cpu_ns, std::int64_t elsewhere_ns) const;

  int threads_;
  std::map<std::string, ThreadTime> thread_begins_;  ///< thread id -> times at construction
  std::chrono::steady_clock::time_point begin_time_;
  MachineUse begin_;
};

}  // namespace pardec
