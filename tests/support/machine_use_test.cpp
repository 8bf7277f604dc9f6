// Use of the machine: the others' share is that of the computing threads, and never more than
// everything.
#include "src/support/machine_use.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using namespace pardec;
using namespace std::chrono_literals;

namespace {

void spin(std::chrono::milliseconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time;
       std::chrono::steady_clock::now() < end;) {
  }
}

std::int64_t ns_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("threads of this process that wait for each other do not count as waiting for others") {
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto begin = std::chrono::steady_clock::now();
  const MachineMeter meter(cores);
  std::vector<std::thread> busy;
  std::atomic<bool> stop = false;
  for (int i = 0; i < 4 * cores; ++i)
    busy.emplace_back([&] {
      while (!stop) spin(1ms);
    });
  std::this_thread::sleep_for(300ms);
  const MachineUse use = meter.read();
  const std::int64_t wall = ns_since(begin);
  stop = true;
  for (auto& thread : busy) thread.join();
  if (!use.waited_ns) return;  // the system does not say how long threads wait
  REQUIRE(use.cpu_ns);
  CHECK(*use.waited_ns >= 0);
  CHECK(*use.waited_ns <= std::max<std::int64_t>(0, cores * wall - *use.cpu_ns));
  CHECK(taken_share(use, wall, cores) <= 1);
}

TEST_CASE("a core that is shared with another process is seen, by the thread that computes") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const pid_t other = fork();
  if (other == 0)
    for (;;) {
    }
  const auto begin = std::chrono::steady_clock::now();
  const MachineMeter meter(1);
  spin(400ms);
  const MachineUse use = meter.read();
  const std::int64_t wall = ns_since(begin);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  if (!use.waited_ns) return;  // the system does not say how long threads wait
  const double share = taken_share(use, wall, 1);
  CHECK(share >= kDisturbedShare);
  CHECK(share <= 1);
}

TEST_CASE("a share is at most all of the time") {
  CHECK(taken_share({1, 900, 200, {}}, 100, 2) == 1);
  CHECK(taken_share({1, 10, 10, {}}, 100, 2) == 0.1);
}

TEST_CASE("a stopped process is seen, and one that may wait for something else is not") {
  const auto begin = std::chrono::steady_clock::now();
  const MachineMeter meter(1);
  const pid_t self = getpid(), other = fork();
  if (other == 0) {
    usleep(100000);
    kill(self, SIGSTOP);
    usleep(400000);
    kill(self, SIGCONT);
    _exit(0);
  }
  spin(700ms);
  const MachineUse use = meter.read(), idle = meter.read(ns_since(begin));
  const std::int64_t wall = ns_since(begin);
  waitpid(other, nullptr, 0);
  if (!use.waited_ns) return;  // the system does not say how long threads wait
  CHECK(*use.waited_ns >= 350000000);
  CHECK(*use.waited_ns <= wall);
  CHECK(taken_share(use, wall, 1) >= kDisturbedShare);
  CHECK(*idle.waited_ns <= *use.waited_ns - 300000000);
}

TEST_CASE("cores that others use are not free, and own ones are") {
  const auto cores = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
  std::atomic<bool> stop = false;
  std::thread own([&] {
    while (!stop) spin(1ms);
  });
  const double free = free_cores(300ms);
  stop = true;
  own.join();
  if (std::isnan(free)) return;  // the system does not say
  CHECK(free > 0);
  CHECK(free < cores + 0.3);  // ticks are long
}

TEST_CASE("as many threads fit as find a core each") {
  CHECK(threads_that_fit(2.0, 2) == 2);
  CHECK(threads_that_fit(1.6, 2) == 2);
  CHECK(threads_that_fit(1.1, 2) == 1);
  CHECK(threads_that_fit(0.0, 8) == 1);
  CHECK(threads_that_fit(6.7, 8) == 7);
  CHECK(threads_that_fit(16, 8) == 8);
  CHECK(threads_that_fit(std::nan(""), 8) == 8);
}
