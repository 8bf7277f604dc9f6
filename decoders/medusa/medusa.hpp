#pragma once
// Medusa decoding with extra heads (Cai et al. 2024, arXiv:2401.10774); decoders/medusa/README.md
// explains the method. The tree of guesses is in tree.hpp.
#include "decoders/decoder.hpp"

namespace pardec {

/// The decoder's entry in the registry (decoders()).
DecoderEntry medusa_entry();

}  // namespace pardec
