#pragma once
#include <string>

#include "decoders/aspd/grammar.hpp"
#include "decoders/aspd/layout.hpp"
#include "decoders/decoder.hpp"

namespace pardec {

struct AspdOptions {
  AspdPositions positions;
  bool shared = false;   ///< mask=shared: branches of a block see each other
  int max_steps = 2048;  ///< maximum number of tokens of a branch, including prefix and </Branch>
  std::string tokens;    ///< names of the six control tokens; empty: those of the checkpoint
};

/// Columns of section 4.1: DP (share of an answer's tokens in branches, %), ABN (branches of a
/// stage, on average), PPD (share of answers with a parallel stage, %), TPS and P-TPS (tokens a
/// second: of whole answers, and of parallel stages).
OwnColumns aspd_columns();

DecoderEntry aspd_entry();

}  // namespace pardec
