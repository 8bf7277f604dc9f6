#include "src/model/visibility.hpp"

#include <stdexcept>

namespace pardec {

int Segments::add(const std::vector<int>& sees) {
  const int made = count();
  std::vector<std::uint64_t> row(static_cast<size_t>(made) / 64 + 1);
  row[static_cast<size_t>(made) / 64] |= std::uint64_t{1} << (made % 64);
  for (const int key : sees) {
    if (key < 0 || key >= made)
      throw std::logic_error("Segments::add: a segment can only see earlier ones");
    row[static_cast<size_t>(key) / 64] |= std::uint64_t{1} << (key % 64);
  }
  bits_.push_back(std::move(row));
  return made;
}

}  // namespace pardec
