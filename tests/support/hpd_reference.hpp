#pragma once
#include <string>
#include <vector>

#include "decoders/hpd/hpd.hpp"
#include "src/engine/trace.hpp"

namespace pardec::test {

// A slow reference of HPD's masks, positions and decoding, written from the paper: "Breaking the
// Autoregressive Chain", sections 4.3.2, 4.3.3 and 4.4, Algorithms 1 and 2. Tokens are described as
// in the paper (prompt, attribute n, k-th token of value n), without order, segment or rank.
// Attributes and values count from 1 over all products: attribute n of product j has number (j - 1)
// * N + n.

/// A token, in the terms of the paper.
struct HpdToken {
  enum class Kind { prompt, attribute, value };
  Kind kind = Kind::prompt;
  int n = 0;  ///< number of the attribute; 0 for the prompt
  /// index within the prompt or the attribute, from 0; for a value, k in the paper, from 1
  int i = 0;
};

/// One input: the lengths of the prompt, the attributes and the values (computed tokens).
struct HpdCase {
  int prompt = 0;
  std::vector<int> attributes;
  std::vector<int> values;
  int products = 1;
  int k_max = 0;
  HpdIsolation isolated = HpdIsolation::none;

  std::string text() const;
};

/// p, a_1, v_1, a_2, v_2, ...: the order of the finished answer and of training.
std::vector<HpdToken> natural_order(const HpdCase& c);
/// s (the prompt and all attributes), then v_{1,1}, v_{2,1}, ..., v_{1,2}, ...: the order in which
/// inference computes the tokens.
std::vector<HpdToken> feeding_order(const HpdCase& c);

/// The position ids of s (Algorithm 2).
std::vector<int> algorithm_2(const HpdCase& c);
/// The position of any token. For token k of value n, it is pos_id[end(a_n)] + k (appendix A.1).
int position(const HpdCase& c, const HpdToken& token);

/// The mask in training (section 4.4): the causal mask, without later tokens of earlier values, and
/// without values for attributes.
bool attends_in_training(const HpdCase& c, const HpdToken& query, const HpdToken& key);
/// The mask at inference (section 4.3): of the tokens that exist when the query is computed, those
/// that precede it in natural order.
bool attends_at_inference(const HpdCase& c, const HpdToken& query, const HpdToken& key);

/// Algorithm 1 with given choices: `values[r]` are the ids chosen for value r, including the
/// terminator. Returns the trace that a decoder should record; `predicts` is set only for rows that
/// chose a token of the answer.
Trace algorithm_1(const Tokens& prompt, const std::vector<Tokens>& segments,
                  const std::vector<Tokens>& values, int products, const HpdOptions& options);

}  // namespace pardec::test
