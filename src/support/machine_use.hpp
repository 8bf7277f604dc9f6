#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace pardec {

/// Resources that this process used during a period, and that others took from it. Empty: the
/// system does not provide the value.
struct MachineUse {
  std::optional<std::int64_t> cpu_ns;  ///< CPU time of this process
  /// time that its compute threads were ready while others used the cores, or that the whole
  /// process was stalled
  std::optional<std::int64_t> waited_ns;
  /// core time taken by the host of a virtual machine, or by a quota of this process's group
  std::optional<std::int64_t> stolen_ns;
  std::optional<double> mhz;  ///< mean clock of the cores at the end
};

/// The share, 0 to 1, of the core time of `threads` threads during `wall_ns` that other processes
/// took. NaN: unknown.
double taken_share(const MachineUse& use, std::int64_t wall_ns, int threads);

/// Waits for `time`, and returns the mean number of cores that other processes left free meanwhile.
/// NaN: unknown.
double free_cores(std::chrono::milliseconds time);

/// How many of `threads` threads get a core of their own if `free` cores are free; at least one.
int threads_that_fit(double free, int threads);

/// If other processes take at least this share, a measured time says more about the machine's load
/// than about the program.
inline constexpr double kDisturbedShare = 0.05;

/// In nanoseconds. A shorter time without a running thread is not a stall: the process may wait for
/// its own threads.
inline constexpr std::int64_t kShortestStall = 100000000;

/// Measures the computation of `threads` threads from its construction on. It counts that many of
/// the process's busiest threads, because additional helper threads that wait do not slow the
/// program down. If there are fewer cores than threads, threads that wait for each other do not
/// count as waiting for others. A time in which no thread ran or was ready is a stall: the process
/// was stopped, frozen, or waited for a disk.
class MachineMeter {
 public:
  explicit MachineMeter(int threads);
  /// `idle_ns`: time that the process may have waited for a device or disk, which is not a stall.
  MachineUse read(std::int64_t idle_ns = 0) const;

 private:
  struct ThreadTime {
    std::int64_t ran_ns = 0, waited_ns = 0;
  };
  static std::map<std::string, ThreadTime> thread_times();
  std::optional<std::int64_t> waited_ns(std::int64_t cpu_ns, std::int64_t elsewhere_ns) const;

  int threads_;
  std::map<std::string, ThreadTime> thread_begins_;  ///< per thread id
  std::chrono::steady_clock::time_point begin_time_;
  MachineUse begin_;
};

}  // namespace pardec
