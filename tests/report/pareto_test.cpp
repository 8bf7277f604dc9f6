#include "src/findings/pareto.hpp"

#include <algorithm>
#include <cmath>

#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

using Points = std::vector<std::pair<double, double>>;

TEST_CASE("the front has the points that no other point beats") {
  CHECK(pareto_front({}).empty());
  CHECK(pareto_front({{1, 0.6}, {4, 0.6}, {3, 0.5}, {5, 0.2}, {0.5, 0.7}}) ==
        std::vector<std::size_t>{4, 1, 3});
  CHECK(pareto_front({{1, 1}, {std::nan(""), 2}, {2, std::nan("")}}) ==
        std::vector<std::size_t>{0});
}

TEST_CASE("the front equals that of comparing all points with all") {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    Points points(1 + rng.below(12));
    // Few values, so that many are equal.
    for (auto& [x, y] : points)
      x = static_cast<double>(rng.below(5)), y = static_cast<double>(rng.below(5));
    std::vector<std::size_t> slow;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (std::none_of(points.begin(), points.end(), [&](const auto& other) {
            return other != points[i] && other.first >= points[i].first &&
                   other.second >= points[i].second;
          }))
        slow.push_back(i);
    std::vector<std::size_t> front = pareto_front(points);
    for (std::size_t i = 1; i < front.size(); ++i)
      CHECK(points[front[i - 1]].first <= points[front[i]].first);
    std::sort(front.begin(), front.end());
    CHECK(front == slow);
  }
}
