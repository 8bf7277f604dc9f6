// The use of the cache over time, in windows.
#include "src/engine/load_windows.hpp"

#include "tests/support/catch.hpp"

using pardec::LoadSums;
using pardec::LoadWindows;

TEST_CASE("time is divided among windows, and tokens belong to the time of their choice") {
  constexpr std::int64_t kHalf = LoadWindows::kWindowNs;
  LoadWindows load;
  load.begin(1000);
  CHECK(load.windows().empty());
  load.add(1000 + kHalf / 2, 10, true, 3);
  load.add(1000 + kHalf / 2, 99, true, 1);  // no time between
  CHECK(load.windows() == std::vector<LoadSums>{{kHalf / 2, 10 * (kHalf / 2), kHalf / 2, 4}});
  // From the middle of the first window to the middle of the third.
  load.add(1000 + 5 * kHalf / 2, 20, false, 7);
  CHECK(load.windows() == std::vector<LoadSums>{{kHalf, 30 * (kHalf / 2), kHalf / 2, 4},
                                                {kHalf, 20 * kHalf, 0, 0},
                                                {kHalf / 2, 20 * (kHalf / 2), 0, 7}});
  // To the end of a window: no empty window begins.
  load.add(1000 + 3 * kHalf, 0, false, 1);
  REQUIRE(load.windows().size() == 3);
  CHECK(load.windows().back() == LoadSums{kHalf, 20 * (kHalf / 2), 0, 8});
  load.add(1000 + 3 * kHalf + 1, 5, true, 0);
  CHECK(load.windows().back() == LoadSums{1, 5, 1, 0});
  load.begin(0);
  CHECK(load.windows().empty());
}
