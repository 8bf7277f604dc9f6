#pragma once
// Adaptive Serial-Parallel Decoding. The paper is Chen et al., arXiv:2508.08895;
// decoders/aspd/README.md explains the method.
#include <string>

#include "decoders/aspd/grammar.hpp"
#include "decoders/aspd/layout.hpp"
#include "decoders/decoder.hpp"

namespace pardec {

/// The options of ASPD.
struct AspdOptions {
  AspdPositions positions;  ///< the scheme of positions
  bool shared = false;      ///< mask=shared: the branches of a block see each other
  int max_steps = 2048;  ///< maximum length of a branch in tokens, including prefix and </Branch>
  std::string tokens;    ///< the six control tokens; see `given` of find_aspd_tokens
};

/// ASPD's own columns (section 4.1; see ParallelMetrics): DP (share of an answer's tokens that are
/// in branches, %), ABN (mean number of branches per parallel stage), PPD (share of answers with a
/// parallel stage, %), TPS (tokens per second of whole answers, without the pass of the prompt),
/// and P-TPS (tokens per second in parallel stages). DP, ABN and P-TPS are means over the answers
/// with a parallel stage.
OwnColumns aspd_columns();

/// The decoder's entry in the registry (decoders()).
DecoderEntry aspd_entry();

}  // namespace pardec
