#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// The continuation of an earlier occurrence of the text's last tokens. Searches for n-grams of
/// `ngram` tokens down to 1, and takes the earliest occurrence. At most `draft` tokens, up to the
/// end of the text; empty if there is no occurrence.
Tokens look_up(const Tokens& text, int ngram, int draft);

DecoderEntry prompt_lookup_entry();

}  // namespace pardec
