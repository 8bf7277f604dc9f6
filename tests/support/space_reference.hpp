#pragma once
#include <vector>

#include "tests/support/slow_transformer.hpp"

// SPACE as in its paper, without cache, labels or engine (Yi et al., section 3.2 and A.3).
namespace pardec::test {

/// One token of I (Equation 4): a mask with its group, counted from 0, or a real token.
struct SpaceItem {
  bool mask = false;
  int group = -1;
};

/// I = x_1 .. x_l, L_m^k, c_1, L_m^k, .., c_m, L_m^k with m candidates (k in the paper).
std::vector<SpaceItem> space_input(int l, int k, int candidates);

/// A.3: "masked tokens can causally attend only to other mask tokens within the same group and to
/// preceding non-masked tokens"; "all non-masked tokens are restricted to causally attend to prior
/// non-masked tokens". Counted from 0.
bool attends(const std::vector<SpaceItem>& I, int i, int j);

/// Equation 5 taken literally, which leaks across groups from k = 3 on.
bool attends_by_equation_5(const std::vector<SpaceItem>& I, int k, int i, int j);

/// P_i = sum over j of A_ij, minus 1.
std::vector<int> space_positions(const std::vector<SpaceItem>& I);

/// What one pass of Algorithm 1 checked and gave.
struct SpaceStep {
  Tokens checked;  ///< L_c
  Tokens emitted;  ///< c_1 .. c_i* and a
};

/// Algorithm 1, greedy, from scratch in every step, until at least `tokens` are generated. `mask`
/// is never chosen; the first step has no candidates.
std::vector<SpaceStep> slow_space(const SlowTransformer& slow, const Tokens& prompt, int k,
                                  Token mask, int tokens);

}  // namespace pardec::test
