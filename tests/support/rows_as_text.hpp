#pragma once
#include <string>
#include <vector>

#include "src/model/visibility.hpp"

namespace pardec::test {

/// A mask as text: one string per row, e.g. "1101", with 1 for each of the rows 0, 1, ... that the
/// row sees.
using Rows = std::vector<std::string>;

/// The mask that the visibility rule gives for rows with these labels.
inline Rows mask(const std::vector<RowLabel>& labels, const Segments& segments) {
  Rows rows;
  for (const RowLabel& q : labels) {
    std::string& row = rows.emplace_back();
    for (const RowLabel& k : labels) row += visible(q, k, segments) ? '1' : '0';
  }
  return rows;
}

inline std::vector<int> positions(const std::vector<RowLabel>& labels) {
  std::vector<int> out;
  for (const RowLabel& label : labels) out.push_back(label.position);
  return out;
}

/// The string, e.g. "1101", of a row that sees the rows `seen` out of `rows` rows.
inline std::string bits(const std::vector<int>& seen, size_t rows) {
  std::string out(rows, '0');
  for (const int row : seen) out[static_cast<size_t>(row)] = '1';
  return out;
}

}  // namespace pardec::test
