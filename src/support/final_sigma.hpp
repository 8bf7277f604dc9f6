#pragma once
#include <cstddef>
#include <string_view>

namespace pardec {

/// Whether the capital sigma at index `at` becomes a final sigma in lower case, by Unicode's rule
/// Final_Sigma and as in Python's str.lower. The rule: a cased character precedes the sigma, and
/// none follows it, where case-ignorable characters in between are skipped.
bool is_final_sigma(std::u32string_view text, std::size_t at);

}  // namespace pardec
