#pragma once
#include <vector>

#include "tests/support/slow_transformer.hpp"

// A slow reference of SPACE, written from the paper (Yi et al., section 3.2 and A.3), without
// cache, labels or engine.
namespace pardec::test {

/// A token of the input I (Equation 4): a mask token of a group (counted from 0), or a real token.
struct SpaceItem {
  bool mask = false;
  int group = -1;
};

/// I = x_1 .. x_l, L_m^k, c_1, L_m^k, .., c_m, L_m^k, where L_m^k are k mask tokens, and m is
/// `candidates` (in the paper, m = k).
std::vector<SpaceItem> space_input(int l, int k, int candidates);

/// Whether item i sees item j, both counted from 0. A.3: "masked tokens can causally attend only to
/// other mask tokens within the same group and to preceding non-masked tokens"; "all non-masked
/// tokens are restricted to causally attend to prior non-masked tokens".
bool attends(const std::vector<SpaceItem>& I, int i, int j);

/// Whether item i sees item j by Equation 5 taken literally. For k >= 3, mask tokens then see mask
/// tokens of other groups.
bool attends_by_equation_5(const std::vector<SpaceItem>& I, int k, int i, int j);

/// The positions P_i = sum over j of A_ij, minus 1.
std::vector<int> space_positions(const std::vector<SpaceItem>& I);

/// The candidates of one pass of Algorithm 1, and its result.
struct SpaceStep {
  Tokens checked;  ///< L_c
  Tokens emitted;  ///< c_1 .. c_i* and a
};

/// Algorithm 1 with greedy decoding, until at least `tokens` tokens are generated. Each step
/// computes the whole input. `mask` is never chosen. The first step has no candidates.
std::vector<SpaceStep> slow_space(const SlowTransformer& slow, const Tokens& prompt, int k,
                                  Token mask, int tokens);

}  // namespace pardec::test
