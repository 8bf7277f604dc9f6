#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace pardec {

/// Indices of the points that no other point beats: none is as high in both coordinates and higher
/// in one. By the first coordinate; points that are not finite are on no front.
std::vector<std::size_t> pareto_front(const std::vector<std::pair<double, double>>& points);

}  // namespace pardec
