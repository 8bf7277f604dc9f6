#include "src/serve/job_queue.hpp"

#include "tests/support/catch.hpp"

using namespace pardec::serve;

namespace {

using Queue = JobQueue<int>;

}  // namespace

TEST_CASE("A job that has left the engine counts no longer, before the next turn") {
  Queue queue({.live = 1, .waiting = 0});
  REQUIRE(queue.submit({{7, 1}}).size() == 1);
  REQUIRE(queue.take(0).joining.size() == 1);
  REQUIRE(queue.load().running == 1);
  REQUIRE(queue.submit({{8, 1}}).empty());  // the engine is full, and nothing may wait

  queue.left(0);
  CHECK(queue.load().running == 0);
  CHECK(queue.submit({{8, 1}}).size() == 1);
}
