#pragma once
#include <string>

#include "decoders/aspd/grammar.hpp"
#include "decoders/aspd/layout.hpp"
#include "decoders/decoder.hpp"

namespace pardec {

struct AspdOptions {
  AspdPositions positions;
  bool shared = false;   ///< mask=shared: the branches of a block see each other
  int max_steps = 2048;  ///< maximum length of a branch in tokens, including prefix and </Branch>
  std::string tokens;    ///< the six control tokens; see `given` of find_aspd_tokens
};

/// ASPD's own columns (section 4.1): DP (share of an answer's tokens in branches, %), ABN (mean
/// number of branches per parallel stage), PPD (share of answers with a parallel stage, %), TPS
/// (tokens per second in whole answers), and P-TPS (tokens per second in parallel stages).
OwnColumns aspd_columns();

DecoderEntry aspd_entry();

}  // namespace pardec
