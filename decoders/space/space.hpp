#pragma once
// Smart Parallel Auto-Correct Decoding. The paper is Yi et al., "Generation Meets Verification";
// decoders/space/README.md explains the method. Letters are the paper's.
#include "decoders/free_running.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

/// The options of SPACE.
struct SpaceOptions {
  /// Number of masks per group, and maximum number of candidates per step. It may be smaller than
  /// in training.
  int k = 5;
  Extra extra = Extra::residual;  ///< distribution of the token that replaces a rejected candidate
  std::string mask_token;         ///< id or text of [M]; empty: found by name (space_mask_token)
};

/// The rows of one step, called cells (paper, Equations 4 and 5, with the groups of appendix A.3).
/// Cell (i, 0) is candidate c_i, where c_0 is x_l, the last token of the text. Cell (i, j), j =
/// 1..k, is mask j of group i.
struct SpaceGrid {
  std::vector<RowLabel> labels;
  std::vector<int> reals;  ///< [i]: index of cell (i, 0) in `labels`
  /// [i][j - 1]: index of cell (i, j) in `labels`, if the mask exists
  std::vector<std::vector<int>> masks;
};

/// Lays out the cells for x_l, which is at position n, and `candidates` candidates after it, with k
/// masks after each of them. A mask is left out if its proposal would be beyond the network's last
/// position. `positions`: the network's number of positions. REQUIRES: n + candidates < positions.
SpaceGrid space_grid(int n, int candidates, int k, int positions);

/// The label of mask j = 1..k of group i. The group follows the token at position `real`, and is in
/// segment 1 + i, which sees segment 0.
RowLabel space_mask(int real, int i, int j);

/// Finds the mask token [M] of a checkpoint: the id or text in `given`, or, if it is empty, the
/// first of <|mask|>, [MASK], <mask> and [M] that is in the tokenizer. `trains`: see
/// ControlToken::to_train. ConfigError: see find_control_token.
Token space_mask_token(const std::string& given, const Tokenizer* tokenizer, int vocab_size,
                       bool trains = false);

/// The decoder's entry in the registry (decoders()).
DecoderEntry space_entry();

}  // namespace pardec
