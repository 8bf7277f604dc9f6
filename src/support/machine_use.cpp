#include "src/support/machine_use.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace pardec {

namespace {

std::int64_t process_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * std::int64_t{1000000000} + time.tv_nsec;
}

/// The eighth number of the first line of /proc/stat (steal time of all cores, in ticks), and the
/// time taken by a quota.
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

/// The idle time of all cores so far: the fourth and fifth number of the first line of /proc/stat.
std::optional<std::int64_t> idle_ns() {
  std::ifstream stat("/proc/stat");
  std::string name;
  std::int64_t ticks[5] = {};
  stat >> name;
  for (std::int64_t& column : ticks) stat >> column;
  if (!stat) return std::nullopt;
  return (ticks[3] + ticks[4]) * (1000000000 / ::sysconf(_SC_CLK_TCK));
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
  return std::min(1.0, static_cast<double>(use.waited_ns.value_or(0) + use.stolen_ns.value_or(0)) /
                           (static_cast<double>(wall_ns) * threads));
}

double free_cores(std::chrono::milliseconds time) {
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<std::int64_t> idle = idle_ns();
  const std::int64_t own = process_cpu_ns();
  std::this_thread::sleep_for(time);
  const auto passed = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  const std::optional<std::int64_t> free = since(idle, idle_ns());
  if (!free || passed <= 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(*free + process_cpu_ns() - own) / static_cast<double>(passed);
}

int threads_that_fit(double free, int threads) {
  if (std::isnan(free)) return threads;
  return std::clamp(static_cast<int>(std::lround(free)), 1, threads);
}

MachineMeter::MachineMeter(int threads)
    : threads_(threads),
      thread_begins_(thread_times()),
      begin_time_(std::chrono::steady_clock::now()),
      begin_{process_cpu_ns(), std::nullopt, stolen_ns(), std::nullopt} {}

/// Times of all live threads (proc(5), schedstat).
std::map<std::string, MachineMeter::ThreadTime> MachineMeter::thread_times() {
  std::map<std::string, ThreadTime> times;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream in(task.path() / "schedstat");
    if (ThreadTime time; in >> time.ran_ns >> time.waited_ns)
      times[task.path().filename().string()] = time;
  }
  return times;
}

/// `elsewhere_ns`: time without a running thread that has another explanation.
std::optional<std::int64_t> MachineMeter::waited_ns(std::int64_t cpu_ns,
                                                    std::int64_t elsewhere_ns) const {
  std::vector<ThreadTime> times;
  for (const auto& [id, now] : thread_times()) {
    const auto found = thread_begins_.find(id);
    const ThreadTime begin = found == thread_begins_.end() ? ThreadTime{} : found->second;
    times.push_back({now.ran_ns - begin.ran_ns, now.waited_ns - begin.waited_ns});
  }
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end(), [](const ThreadTime& a, const ThreadTime& b) {
    return a.ran_ns + a.waited_ns > b.ran_ns + b.waited_ns;
  });
  const auto computing = std::min(times.size(), static_cast<std::size_t>(std::max(threads_, 1)));
  std::int64_t waited = 0, active = 0;
  for (std::size_t t = 0; t < computing; ++t) {
    waited += times[t].waited_ns;
    active += times[t].ran_ns + times[t].waited_ns;
  }
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  // With a core per thread, threads hardly sleep while they wait for each other; the busiest one is
  // representative.
  if (threads_ <= cores) active = times.front().ran_ns + times.front().waited_ns;
  const std::int64_t time =
      std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_time_).count();
  const std::int64_t width = std::min<std::int64_t>(threads_, cores), had = width * time,
                     stall = time - active - elsewhere_ns;
  return std::clamp<std::int64_t>(had - cpu_ns, 0, waited) +
         (stall >= kShortestStall ? width * stall : 0);
}

MachineUse MachineMeter::read(std::int64_t idle_ns) const {
  const std::optional<std::int64_t> cpu_ns = since(begin_.cpu_ns, process_cpu_ns()),
                                    stolen = since(begin_.stolen_ns, stolen_ns());
  return {cpu_ns, waited_ns(*cpu_ns, idle_ns + stolen.value_or(0)), stolen, mean_mhz()};
}

}  // namespace pardec
