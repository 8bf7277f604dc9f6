#pragma once
#include "src/tokenizer/stretch.hpp"

namespace pardec {

/// Unicode's normalisation forms (UAX #15). C composes, D decomposes. KC and KD also replace
/// compatibility variants of characters ("ﬁ", "²").
enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Normalises with the tables of Unicode 9, which PyPI `tokenizers` uses: later additions are not
/// decomposed, composed or reordered. For text of Unicode 9, all versions agree. O(n log n), also
/// for long runs of combining marks. REQUIRES: valid UTF-8.
void normalize(Stretch& stretch, NormalForm form);

}  // namespace pardec
