#pragma once
#include <string>
#include <vector>

#include "decoders/hpd/hpd.hpp"
#include "src/engine/trace.hpp"

namespace pardec::test {

// HPD, written slowly from the paper: "Breaking the Autoregressive Chain", sections 4.3.2, 4.3.3
// and 4.4, Algorithms 1 and 2. It knows tokens by what they are (prompt, attribute n, k-th token of
// value n), without order, segment or rank. Attributes and values count from 1 over all stacked
// products: number (j - 1) * N + n.

/// One token, in the terms of the paper.
struct HpdToken {
  enum class Kind { prompt, attribute, value };
  Kind kind = Kind::prompt;
  int n = 0;  ///< number of its attribute; 0 for the prompt
  int i =
      0;  ///< 0-based index inside the prompt or the attribute's tokens; k, from 1, inside a value
};

/// One input: |p|, the lengths of the attributes' tokens, and how many tokens of each value are
/// computed.
struct HpdCase {
  int prompt = 0;
  std::vector<int> attributes;
  std::vector<int> values;
  int products = 1;
  int k_max = 0;
  HpdIsolation isolated = HpdIsolation::none;

  std::string text() const;
};

/// p, a_1, v_1, a_2, v_2, ...: the order of the finished answer, and of training.
std::vector<HpdToken> natural_order(const HpdCase& c);
/// s, then v_{1,1}, v_{2,1}, ..., v_{1,2}, ...: the order in which inference computes them.
std::vector<HpdToken> feeding_order(const HpdCase& c);

/// Algorithm 2: position ids of s.
std::vector<int> algorithm_2(const HpdCase& c);
/// For any token: the position of a value's token is pos_id[end(a_n)] + k (appendix A.1).
int position(const HpdCase& c, const HpdToken& token);

/// Section 4.4: the causal mask, the mask on later tokens of earlier values, and the mask on values
/// for attributes.
bool attends_in_training(const HpdCase& c, const HpdToken& query, const HpdToken& key);
/// Section 4.3: the tokens that exist when the query is computed, masked causally in natural order.
bool attends_at_inference(const HpdCase& c, const HpdToken& query, const HpdToken& key);

/// Algorithm 1 with the given choices: `values[r]` are the ids chosen for value r, including the
/// terminator. Returns every row that may be computed, in order, with everything that a trace has
/// of it; `predicts` is filled only for rows that chose an answer token.
Trace algorithm_1(const Tokens& prompt, const std::vector<Tokens>& segments,
                  const std::vector<Tokens>& values, int products, const HpdOptions& options);

}  // namespace pardec::test
