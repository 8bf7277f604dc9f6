#pragma once
#include "src/tokenizer/stretch.hpp"

namespace pardec {

/// Unicode's normalisation forms (UAX #15): C composes, D decomposes; KC and KD also replace what
/// is but another shape of a character ("ﬁ", "²").
enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Normalises with the tables of Unicode 9, which PyPI `tokenizers` carries: what a later version
/// added neither decomposes, composes nor reorders. For text of Unicode 9 every version gives the
/// same. O(n log n) also in a long run of combining marks. REQUIRES: valid UTF-8.
void normalize(Stretch& stretch, NormalForm form);

}  // namespace pardec
