#pragma once
#include <cstddef>
#include <string_view>

namespace pardec {

/// Whether the capital sigma at `at` has the lower case that ends a word: Unicode's Final_Sigma,
/// after a cased character and before none, case-ignorable ones aside. As Python's str.lower.
bool is_final_sigma(std::u32string_view text, std::size_t at);

}  // namespace pardec
