#pragma once
#include "src/tokenizer/stretch.hpp"

namespace pardec {

/// Unicode's normalisation forms (UAX #15). NFC composes, NFD decomposes. NFKC and NFKD also
/// replace compatibility variants of characters ("ﬁ", "²").
enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Normalises the text of a stretch with the tables of Unicode 9, as PyPI `tokenizers` does.
/// Characters that were added in later versions are not decomposed, composed or reordered. For
/// characters of Unicode 9, the tables of all later versions agree. Takes O(n log n) time, even for
/// long runs of combining marks. RunError: see check_growth. REQUIRES: the text is valid UTF-8.
void normalize(Stretch& stretch, NormalForm form);

}  // namespace pardec
