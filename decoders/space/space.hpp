#pragma once
#include "decoders/free_running.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

struct SpaceOptions {
  int k = 5;  ///< masks in a group, and candidates of a step at most; below training's k is fine
  Extra extra = Extra::residual;
  std::string mask_token;  ///< [M] as an id or its text; empty: the tokenizer's own
};

/// The cells that one step feeds behind the n tokens in the cache, in feeding order (paper,
/// Equations 4 and 5 with the groups of A.3): cell (i, 0) is c_i, where c_0 is x_l, and cell
/// (i, j), j = 1..k, is mask j of group i.
struct SpaceGrid {
  std::vector<RowLabel> labels;
  std::vector<int> reals;               ///< [i]: index of cell (i, 0)
  std::vector<std::vector<int>> masks;  ///< [i][j - 1]: index of cell (i, j)
};

/// The grid of x_l at position n with `candidates` c_i behind it. It is whole, but for masks whose
/// proposal could never be fed in a network of `positions` positions.
/// REQUIRES: n + candidates < positions.
SpaceGrid space_grid(int n, int candidates, int k, int positions);

/// Mask j = 1..k of group i, which hangs from the token at position `real`. Segment 1 + i is the
/// group's own and sees the trunk, segment 0.
RowLabel space_mask(int real, int i, int j);

/// [M] of a checkpoint: what `given` names, else the tokenizer's own. ConfigError where there is
/// none.
Token space_mask_token(const std::string& given, const Tokenizer* tokenizer, int vocab_size,
                       bool trains = false);

DecoderEntry space_entry();

}  // namespace pardec
