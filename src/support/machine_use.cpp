#include "src/support/machine_use.hpp"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace pardec {

namespace {

std::int64_t process_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * std::int64_t{1000000000} + time.tv_nsec;
}

/// Time in run queues, summed over the threads that live now (proc(5), schedstat).
std::optional<std::int64_t> waited_ns() {
  std::error_code error;
  std::optional<std::int64_t> sum;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream in(task.path() / "schedstat");
    if (std::int64_t ran = 0, waited = 0; in >> ran >> waited) sum = sum.value_or(0) + waited;
  }
  return sum;
}

/// The eighth number of /proc/stat's first line, of all cores, in ticks; and what a quota took.
std::optional<std::int64_t> stolen_ns() {
  std::optional<std::int64_t> sum;
  std::ifstream stat("/proc/stat");
  std::string name;
  std::int64_t ticks = 0;
  stat >> name;
  for (int column = 0; column < 8; ++column) stat >> ticks;
  if (stat) sum = ticks * (1000000000 / ::sysconf(_SC_CLK_TCK));
  std::ifstream quota("/sys/fs/cgroup/cpu.stat");
  for (std::int64_t value = 0; quota >> name >> value;)
    if (name == "throttled_usec") sum = sum.value_or(0) + value * 1000;
  return sum;
}

std::optional<double> mean_mhz() {
  double sum = 0;
  int cores = 0;
  for (;; ++cores) {
    std::ifstream in("/sys/devices/system/cpu/cpu" + std::to_string(cores) +
                     "/cpufreq/scaling_cur_freq");
    double khz = 0;
    if (!(in >> khz)) break;
    sum += khz / 1000;
  }
  return cores ? std::optional(sum / cores) : std::nullopt;
}

std::optional<std::int64_t> since(const std::optional<std::int64_t>& begin,
                                  const std::optional<std::int64_t>& now) {
  return begin && now ? std::optional(*now - *begin) : std::nullopt;
}

}  // namespace

double taken_share(const MachineUse& use, std::int64_t wall_ns, int threads) {
  if ((!use.waited_ns && !use.stolen_ns) || wall_ns <= 0)
    return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(use.waited_ns.value_or(0) + use.stolen_ns.value_or(0)) /
         (static_cast<double>(wall_ns) * threads);
}

MachineMeter::MachineMeter() : begin_{process_cpu_ns(), waited_ns(), stolen_ns(), std::nullopt} {}

MachineUse MachineMeter::read() const {
  return {since(begin_.cpu_ns, process_cpu_ns()), since(begin_.waited_ns, waited_ns()),
          since(begin_.stolen_ns, stolen_ns()), mean_mhz()};
}

}  // namespace pardec
