#pragma once
#include <cstddef>
#include <string_view>

namespace pardec {

/// Whether the capital sigma at `at` has the lower-case form for the end of a word: Unicode's
/// Final_Sigma. It follows a cased character and precedes none, ignoring case-ignorable characters.
/// As in Python's str.lower.
bool is_final_sigma(std::u32string_view text, std::size_t at);

}  // namespace pardec
