#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// What followed the text's last tokens where they stood before: for n-grams of `ngram` tokens down
/// to 1, the earliest earlier occurrence decides. At most `draft` tokens, as far as the text goes;
/// none where there is no occurrence.
Tokens look_up(const Tokens& text, int ngram, int draft);

DecoderEntry prompt_lookup_entry();

}  // namespace pardec
