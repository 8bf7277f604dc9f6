#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace pardec {

/// Indices of the Pareto-optimal points, in ascending order of the first coordinate. A point is
/// Pareto-optimal if no other point is at least as high in both coordinates and higher in one.
/// Points with a coordinate that is not finite are left out.
std::vector<std::size_t> pareto_front(const std::vector<std::pair<double, double>>& points);

}  // namespace pardec
