#pragma once
// Prompt lookup decoding (Saxena 2023); decoders/speculation/prompt-lookup.md explains the method.
#include "decoders/decoder.hpp"

namespace pardec {

/// Guesses the continuation of a text. Searches for an earlier occurrence of the text's last n
/// tokens, first with n = `ngram`, then with smaller n down to 1. The search ends at the first n
/// for which there is an occurrence; if there are several, the earliest is used. Returns the tokens
/// after this occurrence, at most `draft`. Empty: the last token does not occur earlier.
Tokens look_up(const Tokens& text, int ngram, int draft);

/// The decoder's entry in the registry (decoders()).
DecoderEntry prompt_lookup_entry();

}  // namespace pardec
