#include "src/runs/time_left.hpp"

#include <algorithm>
#include <cmath>

#include "src/support/rng.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// A cell of a scripted run.
struct Cell {
  double seconds;  ///< for a unit, while `batch` units run at the same time
  std::size_t arm;
  int batch = 1;
  double gain = 1;  ///< how much slower a single one is
  double cold = 1;  ///< how much slower the warm-up is than a single one
};

struct Script {
  std::vector<Cell> cells;
  int blocks = 6, units = 6;
  double jitter = 0;  ///< of a unit's time, in both directions
  bool warm_up = true;
  bool blocked = false;  ///< cell by cell; otherwise block by block, there and back again
};

/// The estimate at the end of each unit divided by the time that was really left; and the largest
/// error of an estimate by the mean of all units so far, in the first tenth of the time.
struct Told {
  std::vector<double> ratios;
  double worst_mean = 1;
};

Told play(const Script& script) {
  Rng rng(7);
  struct Unit {
    std::size_t cell;
    int done, of;        ///< in its block
    double took, begun;  ///< since the previous end, and since the block's begin
  };
  std::vector<Unit> units;
  const auto block = [&](std::size_t c) {
    const Cell& cell = script.cells[c];
    double since = 0;
    for (int done = 0; done < script.units;) {
      // `batch` units begin and end together, and make room for as many others.
      const int together = std::min(cell.batch, script.units - done);
      const double alone = cell.batch > 1 ? cell.seconds * cell.batch : cell.seconds;
      const double took = alone * (1 + script.jitter * (2 * rng.uniform() - 1));
      for (int i = 0; i < together; ++i) {
        since += i == 0 ? took : 0;
        units.push_back({c, ++done, script.units, i == 0 ? took : 0, since});
      }
    }
  };
  const std::size_t count = script.cells.size();
  if (script.blocked)
    for (std::size_t c = 0; c < count; ++c)
      for (int b = 0; b < script.blocks; ++b) block(c);
  else
    for (int b = 0; b < script.blocks; ++b)
      for (std::size_t i = 0; i < count; ++i) block(b % 2 ? count - 1 - i : i);

  std::vector<TimeLeft::Kind> kinds;
  for (const Cell& cell : script.cells)
    kinds.push_back({1.0 * script.blocks * script.units, cell.arm});
  TimeLeft left(std::move(kinds));
  if (script.warm_up)
    for (std::size_t c = 0; c < count; ++c) {
      const Cell& cell = script.cells[c];
      left.tried(c, 1, cell.seconds * cell.gain * cell.cold);
    }
  double rest = 0, past = 0;
  for (const Unit& unit : units) rest += unit.took;
  const double all = rest;
  Told told;
  for (std::size_t u = 0; u < units.size(); ++u) {
    const Unit& unit = units[u];
    past += unit.took;
    rest -= unit.took;
    left.is_at(unit.cell, unit.done,
               std::min(script.cells[unit.cell].batch - 1, unit.of - unit.done), unit.begun);
    if (unit.done == unit.of) left.finished(unit.cell, unit.of, unit.begun);
    if (rest < 0.02 * all) break;
    const TimeLeft::Estimate estimate = left.left();
    if (!estimate.whole) continue;
    told.ratios.push_back(estimate.seconds / rest);
    const double done = static_cast<double>(u + 1), of = static_cast<double>(units.size());
    const double mean = past / done * (of - done) / rest;
    if (past < 0.1 * all) told.worst_mean = std::max({told.worst_mean, mean, 1 / mean});
  }
  return told;
}

void check_within_two(const Script& script) {
  const Told told = play(script);
  REQUIRE_FALSE(told.ratios.empty());
  const auto [least, most] = std::minmax_element(told.ratios.begin(), told.ratios.end());
  CAPTURE(told.ratios.front());
  CHECK(*least > 0.5);
  CHECK(*most < 2);
}

}  // namespace

TEST_CASE("the time left is within a factor of two from the first unit on") {
  SECTION("two arms, one ten times as fast; the mean of all units is far off") {
    const Script script{.cells = {{10, 0}, {1, 1}}};
    check_within_two(script);
    CHECK(play(script).worst_mean > 1.7);
  }
  SECTION("a slow arm first, eleven fast ones") {
    Script script{.jitter = 0.2};
    for (std::size_t a = 0; a < 12; ++a) script.cells.push_back({a == 0 ? 40.0 : 4.0, a});
    check_within_two(script);
    CHECK(play(script).worst_mean > 4);
  }
  SECTION("fast ones first") {
    Script script{.jitter = 0.2};
    for (std::size_t a = 0; a < 6; ++a) script.cells.push_back({a == 5 ? 50.0 : 1.0 + a, a});
    check_within_two(script);
    CHECK(play(script).worst_mean > 2);
  }
  SECTION("warm-ups that are one and a half times as slow") {
    Script script{.jitter = 0.2};
    for (std::size_t a = 0; a < 5; ++a) script.cells.push_back({std::pow(1.8, a), a, 1, 1, 1.5});
    check_within_two(script);
  }
  SECTION("batches, in which an answer takes less time than alone") {
    check_within_two({.cells = {{4, 0, 8, 1.4}, {1, 1, 2, 1.2}, {0.4, 2}}, .units = 24});
  }
  SECTION("two datasets, of which one has answers ten times as long") {
    check_within_two({.cells = {{1, 0}, {10, 0}, {0.3, 1}, {2, 1}}, .jitter = 0.3});
  }
  SECTION("arm by arm") {
    check_within_two({.cells = {{10, 0}, {1, 1}, {3, 2}}, .jitter = 0.2, .blocked = true});
  }
}

TEST_CASE("without a warm-up it is given as a lower bound until every arm was seen") {
  TimeLeft left({{10, 0}, {10, 1}});
  left.finished(0, 4, 8);
  CHECK(left.left().seconds == Approx(12));
  CHECK_FALSE(left.left().whole);
  CHECK(text_of(left.left()) == "over 0:12 left");
  left.is_at(1, 1, 0, 0.5);
  CHECK(left.left().seconds == Approx(12 + 4.5));
  CHECK(text_of(left.left()) == "0:17 left");
  const Told told = play({.cells = {{10, 0}, {1, 1}}, .warm_up = false});
  CHECK(*std::max_element(told.ratios.begin(), told.ratios.end()) < 2);
  CHECK(told.ratios.size() > 50);
}

TEST_CASE("nothing is estimated from fewer than four units, or a quarter of them if they are few") {
  TimeLeft many({{40, 0}}), few({{6, 0}});
  many.is_at(0, 3, 0, 3);
  CHECK(text_of(many.left()) == "");
  many.is_at(0, 4, 0, 4);
  CHECK(text_of(many.left()) == "0:36 left");
  few.is_at(0, 1, 0, 2);
  CHECK(text_of(few.left()) == "");
  few.is_at(0, 2, 0, 4);
  CHECK(text_of(few.left()) == "0:08 left");
}

TEST_CASE("an unseen kind takes the time of its group, by their warm-ups if there are some") {
  TimeLeft left({{10, 0}, {10, 0}, {10, 1}});
  left.tried(0, 1, 2);
  left.tried(1, 1, 20);
  left.tried(2, 1, 5);
  left.finished(0, 10, 10);  // half of what its warm-up suggested
  CHECK(left.left().seconds == Approx(10 * 10 + 10 * 5));
  TimeLeft untried({{10, 0}, {10, 0}});
  untried.finished(0, 10, 10);
  CHECK(untried.left().seconds == Approx(10));
}
