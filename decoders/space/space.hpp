#pragma once
#include "decoders/free_running.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

struct SpaceOptions {
  /// number of masks in a group, and maximum number of candidates of a step; may be less than in
  /// training
  int k = 5;
  Extra extra = Extra::residual;
  std::string mask_token;  ///< [M] as an id or its text; empty: the tokenizer's own
};

/// The cells that one step adds after the n tokens in the cache, in order (paper, Equations 4 and 5
/// with the groups of A.3). Cell (i, 0) is c_i, where c_0 is x_l. Cell (i, j), j = 1..k, is mask j
/// of group i.
struct SpaceGrid {
  std::vector<RowLabel> labels;
  std::vector<int> reals;               ///< [i]: index of cell (i, 0)
  std::vector<std::vector<int>> masks;  ///< [i][j - 1]: index of cell (i, j)
};

/// The grid of x_l at position n, followed by `candidates` candidates c_i. Omits only masks whose
/// proposals would lie beyond the network's `positions` positions and so could never be used.
/// REQUIRES: n + candidates < positions.
SpaceGrid space_grid(int n, int candidates, int k, int positions);

/// Label of mask j = 1..k of group i, which follows the token at position `real`. Segment 1 + i
/// belongs to the group, and sees the trunk, segment 0.
RowLabel space_mask(int real, int i, int j);

/// [M] of a checkpoint: the token named by `given`, otherwise the tokenizer's own. ConfigError:
/// there is none.
Token space_mask_token(const std::string& given, const Tokenizer* tokenizer, int vocab_size,
                       bool trains = false);

DecoderEntry space_entry();

}  // namespace pardec
