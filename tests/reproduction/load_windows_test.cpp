// Windows of 3 seconds of a block's load, as in Figure 5 of the APAR paper.
#include "src/reproduction/evidence.hpp"
#include "tests/support/catch.hpp"

namespace pardec {

namespace {

/// `count` half seconds with these rows and tokens; jobs wait or not.
void add_halves(Json& block, int count, double rows, int tokens, bool waiting) {
  for (int i = 0; i < count; ++i)
    block.push_back({500'000'000, rows, tokens, waiting ? 500'000'000 : 0});
}

}  // namespace

TEST_CASE("the first third and the time after the queue are left out") {
  Json block = Json::array();
  add_halves(block, 10, 7, 1, true);     // the first third of 30
  add_halves(block, 6, 100, 40, true);   // 3 s: 80 tokens a second
  add_halves(block, 3, 200, 10, false);  // no job waits for a while
  add_halves(block, 3, 300, 20, true);   // 3 s: 30 tokens a second, 250 rows on average
  add_halves(block, 2, 400, 9, true);    // not a whole window
  add_halves(block, 6, 500, 5, false);   // the queue is empty
  const std::vector<LoadWindow> windows = load_windows({block});
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].cached_rows == Approx(100));
  CHECK(windows[0].tokens_per_second == Approx(80));
  CHECK(windows[1].cached_rows == Approx(250));
  CHECK(windows[1].tokens_per_second == Approx(30));
  CHECK(load_windows({block, block}).size() == 4);
}

TEST_CASE("a block in which no job waits, or that is too short, has no window") {
  Json idle = Json::array(), brief = Json::array();
  add_halves(idle, 60, 100, 40, false);
  add_halves(brief, 8, 100, 40, true);  // 2.5 s are left
  CHECK(load_windows({idle}).empty());
  CHECK(load_windows({brief}).empty());
  CHECK(load_windows({}).empty());
}

}  // namespace pardec
