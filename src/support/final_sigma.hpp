#pragma once
#include <cstddef>
#include <string_view>

namespace pardec {

/// Whether the lower case of text[at], a capital sigma, is the final sigma (ς) instead of σ. As in
/// Python's str.lower, this is decided by Unicode's rule Final_Sigma (Unicode Standard, section
/// 3.13): a cased character precedes the sigma, and no cased character follows. Case-ignorable
/// characters in between are skipped.
bool is_final_sigma(std::u32string_view text, std::size_t at);

}  // namespace pardec
