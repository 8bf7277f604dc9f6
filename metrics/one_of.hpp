#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace pardec {

/// Whether `word` is one of `words`.
template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace pardec
