#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// Unicode normalisation form C with the tables of Unicode 9, which PyPI `tokenizers` carries: what
/// a later version added neither decomposes, composes nor reorders. For text of Unicode 9 every
/// version gives the same. O(n log n) also in a long run of combining marks. REQUIRES: valid UTF-8.
std::string nfc(std::string_view text);

}  // namespace pardec
