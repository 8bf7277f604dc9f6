#pragma once
#include <string>

#include "decoders/aspd/grammar.hpp"
#include "decoders/aspd/layout.hpp"
#include "decoders/decoder.hpp"

namespace pardec {

struct AspdOptions {
  AspdPositions positions;
  bool shared = false;   ///< mask=shared: branches of a block see one another
  int max_steps = 2048;  ///< tokens of a branch at most, prefix and </Branch> included
  std::string tokens;    ///< names of the six control tokens; empty: those of the checkpoint
};

/// DP, ABN, PPD, TPS and P-TPS (section 4.1).
OwnColumns aspd_columns();

DecoderEntry aspd_entry();

}  // namespace pardec
