#include "src/findings/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pardec {

std::vector<std::size_t> pareto_front(const std::vector<std::pair<double, double>>& points) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (std::isfinite(points[i].first) && std::isfinite(points[i].second)) order.push_back(i);
  // From right to left: a point is kept if it is higher than all points to its right, or equal in
  // both coordinates to the highest of them.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points[a] > points[b]; });
  std::vector<std::size_t> front;
  double highest = -std::numeric_limits<double>::infinity();
  for (const std::size_t i : order)
    if (points[i].second > highest || (!front.empty() && points[i] == points[front.back()])) {
      front.push_back(i);
      highest = points[i].second;
    }
  std::reverse(front.begin(), front.end());
  return front;
}

}  // namespace pardec
