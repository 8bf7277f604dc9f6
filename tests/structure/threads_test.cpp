// One pool of threads: at::parallel_for must not be serial (it is without -fopenmp), and libtorch's
// own kernels must not bring a second one.
#include <atomic>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>

#include "src/model/device.hpp"
#include "src/model/torch.hpp"
#include "tests/support/catch.hpp"

namespace {

long threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator{});
}

}  // namespace

TEST_CASE("at::parallel_for and libtorch's kernels share one pool") {
  constexpr int kThreads = 3;
  pardec::set_threads(kThreads);
  const long idle =
      threads_of_this_process();  // libtorch makes a pool for mobile kernels here, which stays idle
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<int> arrived{0};
  at::parallel_for(0, kThreads, 1, [&](std::int64_t, std::int64_t) {
    ++arrived;
    while (arrived < kThreads)
      std::this_thread::yield();  // all are here at once, or this hangs until the time-out
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
