// Threads that share loops: each piece runs once, whichever thread is late; threads without work
// sleep.
#include "src/kernels/team.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

using namespace pardec;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kMs = 1'000'000;

void wait_until(const auto& holds) {
  while (!holds()) std::this_thread::sleep_for(100us);  // or until the test's time is over
}

std::int64_t cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * std::int64_t{1000000000} + time.tv_nsec;
}

}  // namespace

TEST_CASE("the items of a loop are done once each, by any number of members") {
  for (const int members : {1, 2, 3, 8}) {
    Team team(members);
    CHECK(team.members() == members);
    for (const std::int64_t count : {0, 1, 2, 7, 64, 1000, 4097})
      for (const std::int64_t grain : {1, 3, 100}) {
        std::vector<int> done(static_cast<size_t>(count));
        std::mutex mutex;
        std::set<std::int64_t> sizes;
        team.run(count, grain, [&](int member, std::int64_t first, std::int64_t last) {
          if (member < 0 || member >= members) throw std::logic_error("no such member");
          for (std::int64_t i = first; i < last; ++i) ++done[static_cast<size_t>(i)];
          const std::lock_guard lock(mutex);
          sizes.insert(last - first);
        });
        CHECK(done == std::vector<int>(static_cast<size_t>(count), 1));
        if (count > 0) CHECK(*sizes.begin() >= std::min(count, grain));
      }
  }
}

TEST_CASE("after its helpers could not be started, a team is free, and signals arrive as before") {
  pthread_attr_t usual, huge;
  REQUIRE(::pthread_getattr_default_np(&usual) == 0);
  REQUIRE(::pthread_getattr_default_np(&huge) == 0);
  REQUIRE(::pthread_attr_setstacksize(&huge, size_t{1} << 47) == 0);  // more than there is
  Team team(3);
  std::atomic<int> calls = 0;
  const auto count = [&] { team.run(64, 1, [&](int, std::int64_t, std::int64_t) { ++calls; }); };
  REQUIRE(::pthread_setattr_default_np(&huge) == 0);
  CHECK_THROWS_AS(count(), std::system_error);
  CHECK_THROWS_AS(count(), std::system_error);  // it tries again
  REQUIRE(::pthread_setattr_default_np(&usual) == 0);
  CHECK(calls == 0);
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  CHECK(sigismember(&blocked, SIGTERM) == 0);
  count();
  CHECK(calls > 1);  // a caller without helpers makes one call
}

TEST_CASE("many short loops in a row, each with the results of those before it") {
  Team team(4);
  std::vector<std::int64_t> values(64, 0);
  for (std::int64_t loop = 0; loop < 20000; ++loop)
    team.run(64, 1, [&](int, std::int64_t first, std::int64_t last) {
      // Neighbours were written by other members, in other loops.
      for (std::int64_t i = first; i < last; ++i) values[static_cast<size_t>(i)] += loop;
    });
  const std::int64_t sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
  CHECK(sum == 64 * (20000LL * 19999 / 2));
}

TEST_CASE("a member without a core delays only the piece that it has begun") {
  Team team(2);
  std::atomic<bool> held = false;
  std::atomic<std::int64_t> others = 0;
  constexpr std::int64_t kItems = 16;
  team.run(kItems, 1, [&](int member, std::int64_t first, std::int64_t last) {
    if (member == 1 && !held.exchange(true)) {
      // Until all the others are done. A fixed division would never finish.
      wait_until([&] { return others == kItems - (last - first); });
      return;
    }
    wait_until([&] { return held.load(); });  // so that it has begun a piece
    others += last - first;
  });
  CHECK(others < kItems);
  CHECK(others >= kItems - 1);
}

TEST_CASE("an exception in a piece is thrown by the loop, and the team continues") {
  Team team(3);
  for (int i = 0; i < 100; ++i) {
    CHECK_THROWS_AS(team.run(64, 1,
                             [](int, std::int64_t first, std::int64_t last) {
                               if (first <= 40 && 40 < last) throw std::runtime_error("piece");
                             }),
                    std::runtime_error);
    std::atomic<std::int64_t> done = 0;
    team.run(64, 1, [&](int, std::int64_t first, std::int64_t last) { done += last - first; });
    CHECK(done == 64);
  }
}

TEST_CASE(
    "a loop inside a loop, and one at the same time as another thread's, run only on the caller") {
  Team team(3);
  std::atomic<std::int64_t> inner = 0;
  std::atomic<int> wrong = 0;
  const auto count_alone = [&] {
    const std::thread::id self = std::this_thread::get_id();
    team.run(50, 1, [&](int member, std::int64_t first, std::int64_t last) {
      if (member != 0 || std::this_thread::get_id() != self) ++wrong;
      inner += last - first;
    });
  };
  team.run(12, 1, [&](int, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) count_alone();
  });
  CHECK(inner == 12 * 50);
  team.run(12, 1, [&](int, std::int64_t, std::int64_t) { std::jthread(count_alone).join(); });
  CHECK(wrong == 0);
}

TEST_CASE("the holder of a team shares its loops; other callers' loops run alone until it ends") {
  Team team(3);
  const auto members_of_a_loop = [&] {
    std::atomic<int> arrived = 0;
    std::mutex mutex;
    std::set<std::thread::id> seen;
    const auto end = std::chrono::steady_clock::now() + 200ms;
    team.run(3, 1, [&](int, std::int64_t first, std::int64_t last) {
      arrived += static_cast<int>(last - first);
      while (arrived < 3 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    CHECK(arrived == 3);
    return std::ssize(seen);
  };
  const auto of_another_thread = [&] {
    std::ptrdiff_t members = 0;
    std::jthread([&] { members = members_of_a_loop(); }).join();
    return members;
  };
  // A helper that another program kept from its core is left out of loops for a while.
  const auto all_take_part = [](const auto& members) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (members() != 3)
      if (std::chrono::steady_clock::now() > end) return false;
    return true;
  };
  {
    const Team::Hold hold(team);
    const Team::Hold again(team);  // does nothing
    for (int i = 0; i < 3; ++i) {
      CHECK(all_take_part(members_of_a_loop));
      CHECK(of_another_thread() == 1);
    }
    std::atomic<int> wrong = 0;
    team.run(12, 1, [&](int, std::int64_t, std::int64_t) {  // a loop within a loop
      const std::thread::id self = std::this_thread::get_id();
      team.run(5, 1, [&](int member, std::int64_t, std::int64_t) {
        if (member != 0 || std::this_thread::get_id() != self) ++wrong;
      });
    });
    CHECK(wrong == 0);
    CHECK_THROWS_AS(
        team.run(9, 1, [](int, std::int64_t, std::int64_t) { throw std::runtime_error("piece"); }),
        std::runtime_error);
  }
  CHECK(all_take_part(of_another_thread));
  CHECK(all_take_part(members_of_a_loop));
}

TEST_CASE("a team of another size has other helpers") {
  Team team(1);
  for (const int members : {4, 1, 2, 5}) {
    team.resize(members);
    std::atomic<int> arrived = 0;
    std::mutex mutex;
    std::set<std::thread::id> seen;
    team.run(members, 1, [&](int, std::int64_t, std::int64_t) {
      ++arrived;
      wait_until([&] { return arrived == members; });  // all are here at the same time
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    CHECK(std::ssize(seen) == members);
  }
  CHECK_THROWS_AS(team.resize(0), std::logic_error);
}

TEST_CASE("helpers without work sleep, and take no processor time") {
  Team team(4);
  team.run(64, 1, [](int, std::int64_t, std::int64_t) {});
  wait_until([&] { return team.sleeping() == 3; });
  const std::int64_t begin = cpu_ns();
  std::this_thread::sleep_for(300ms);
  CHECK(cpu_ns() - begin < 30 * kMs);  // of 900 that three spinning threads would take
  std::atomic<std::int64_t> done = 0;
  team.run(64, 1, [&](int, std::int64_t first, std::int64_t last) { done += last - first; });
  CHECK(done == 64);
}

TEST_CASE("a caller sleeps while a helper has the last piece") {
  Team team(2);
  std::atomic<bool> held = false;
  std::int64_t begin = 0;
  team.run(8, 1, [&](int member, std::int64_t, std::int64_t) {
    if (member == 0) return wait_until([&] { return held.load(); });
    if (held.exchange(true)) return;
    begin = cpu_ns();
    std::this_thread::sleep_for(300ms);
  });
  CHECK(cpu_ns() - begin < 30 * kMs);
}

TEST_CASE(
    "if a member soon has to be waited for again, one member less takes part, longer each time") {
  Attendance attendance(3);
  CHECK(attendance.at(0) == 3);
  attendance.waited(1000 * kMs, kMs / 10, 10 * kMs);  // once, after a second together
  CHECK(attendance.at(1000 * kMs) == 3);
  attendance.waited(1030 * kMs, kMs / 10, kMs / 2);  // as long as a piece may take
  attendance.waited(1030 * kMs, 10 * kMs, 15 * kMs);
  CHECK(attendance.at(1030 * kMs) == 3);

  attendance.waited(1040 * kMs, kMs / 10, 10 * kMs);  // 30 ms together, less than 160
  CHECK(attendance.at(1040 * kMs) == 2);
  CHECK(attendance.at(1059 * kMs) == 2);
  CHECK(attendance.at(1060 * kMs) == 3);
  CHECK(attendance.out_ns(1060 * kMs) == 20 * kMs);

  attendance.waited(1080 * kMs, kMs / 10, 10 * kMs);  // soon again
  CHECK(attendance.at(1159 * kMs) == 2);
  CHECK(attendance.at(1160 * kMs) == 3);
  CHECK(attendance.out_ns(1160 * kMs) == 100 * kMs);

  attendance.waited(1400 * kMs, kMs / 10, 10 * kMs);  // 230 ms together
  CHECK(attendance.at(1400 * kMs) == 3);
  attendance.waited(1420 * kMs, kMs / 10, 10 * kMs);
  CHECK(attendance.at(1439 * kMs) == 2);  // as the first time
  CHECK(attendance.at(1440 * kMs) == 3);
}

TEST_CASE("a disturbance ten times a second costs no more than itself") {
  Attendance attendance(2);
  for (std::int64_t now = 100; now < 60'000; now += 100) {
    CHECK(attendance.at(now * kMs) == 2);
    attendance.waited(now * kMs, kMs / 10, 4 * kMs);
  }
  CHECK(attendance.out_ns(60'000 * kMs) == 0);
}

TEST_CASE("members that are always late stay out for at most a second, and one stays in") {
  Attendance attendance(2);
  std::int64_t now = 0, lost = 0;
  for (int i = 0; i < 40; ++i) {
    while (attendance.at(now) == 1) now += kMs;
    now += 12 * kMs, lost += 10 * kMs;  // it works for 2 ms, and others wait for it
    attendance.waited(now, kMs / 10, 10 * kMs);
    CHECK(attendance.active() == 1);
    attendance.waited(now, kMs / 10, 10 * kMs);
    CHECK(attendance.active() == 1);
  }
  CHECK(now > 30'000 * kMs);
  CHECK(now < 41'000 * kMs);
  CHECK(static_cast<double>(lost) < 0.015 * static_cast<double>(now));
}
