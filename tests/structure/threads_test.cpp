// There is one pool of threads: the team's. libtorch computes on the thread that calls it, and
// starts no threads that compute. The project's kernels and libtorch's operations are shared over
// the team.
#include <atomic>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>

#include "src/kernels/team.hpp"
#include "src/model/device.hpp"
#include "src/model/plain/layers.hpp"
#include "tests/support/catch.hpp"

namespace {

long threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator{});
}

}  // namespace

TEST_CASE("libtorch's operations start no threads besides the team") {
  constexpr int kThreads = 3;
  pardec::set_threads(kThreads);
  CHECK(pardec::threads() == kThreads);
  CHECK(at::get_num_threads() == 1);
  const long idle =
      threads_of_this_process();  // libtorch makes a pool for mobile kernels here, which stays idle
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<int> arrived{0};
  pardec::team().run(kThreads, 1, [&](int, std::int64_t, std::int64_t) {
    ++arrived;
    while (arrived < kThreads)
      std::this_thread::yield();  // all are here at the same time, or this hangs until the time-out
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  CHECK(seen.size() == kThreads);
  const long before = threads_of_this_process();
  CHECK(before == idle + kThreads - 1);
  const at::Tensor a = at::rand({512, 512});
  CHECK(at::matmul(a, a).sum().item<float>() > 0);
  CHECK((at::rand({1 << 20}) + 1).sum().item<float>() > 0);
  CHECK(threads_of_this_process() == before);
}

TEST_CASE("products by any number of threads equal those of libtorch, bit by bit") {
  const c10::NoGradGuard no_grad;
  const at::Tensor bias = at::randn({700});
  const pardec::Linear wide{at::randn({2100, 256})}, odd{at::randn({700, 256}), bias};
  for (const int threads : {1, 2, 5}) {
    pardec::set_threads(threads);
    for (const std::int64_t rows : {1, 2, 24, 70}) {
      const at::Tensor x = at::randn({rows, 256});
      const auto both = pardec::products({&wide, &odd}, x);
      CHECK(at::equal(both[0], wide(x)));
      CHECK(at::equal(both[1], odd(x)));
    }
  }
}

TEST_CASE("work that a team divides has no gradient") {
  pardec::set_threads(2);
  pardec::Linear map{at::randn({2100, 256})};
  map.weight.requires_grad_(true);
  CHECK(pardec::products({&map}, at::randn({4, 256}))[0].requires_grad());
}
