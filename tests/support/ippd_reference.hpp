#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/support/types.hpp"
#include "tests/support/slow_transformer.hpp"

namespace pardec::test {

// IPPD, written slowly from the paper: "Intra-Prompt Parallel Decoding for Common-Context Question
// Answering", sections 3 and 4.1 to 4.4, with the pads of section 4.4. It knows tokens by what they
// are, without order, segment or rank. Contexts j and questions k of a context count from 1.

/// One token, in the terms of the paper.
struct IppdToken {
  enum class Kind { pad, instruction, context, question, answer };
  Kind kind = Kind::pad;
  int j = 0;  ///< its context; 0 for the instruction
  int k = 0;  ///< its question in that context; 0 for instruction and context
  int i = 0;  ///< 0-based index inside p, c_j or x_jk; t, from 1, inside an answer
};

/// One prompt: |p|, |c_j|, |x_jk|, and how many tokens of each answer are computed.
struct IppdCase {
  int p = 0;
  std::vector<int> c;
  std::vector<std::vector<int>> x, y;

  std::string text() const;
};

/// Eq. 1.
std::vector<IppdToken> header(const IppdCase& prompt);
/// Rows of a padded batch, each in its final memory order: left pads up to the longest header; the
/// header; then, step by step, the t-th token of every open answer, and pads up to the row with the
/// most (section 4.4). All rows are equally long.
std::vector<std::vector<IppdToken>> padded_batch(const std::vector<IppdCase>& prompts);

/// Eqs 2 to 5; for a pad infinity, "implemented as the maximum long integer value".
std::int64_t virtual_position(const IppdCase& prompt, const IppdToken& token);
/// Eqs 6 to 9. The paper gives pads neither a context nor a question; here they are -1.
bool final_mask(const IppdCase& prompt, const IppdToken& query, const IppdToken& key);

/// Ids of one prompt: p, c_j, x_jk.
struct IppdPrompt {
  Tokens p;
  std::vector<Tokens> c;
  std::vector<std::vector<Tokens>> x;
};

/// The whole method by a transformer of naive loops, with the text computed again in every step: a
/// padded batch, greedy, each answer up to `limit` ids or one of `eos`. [prompt][question of any
/// context]
std::vector<std::vector<Tokens>> slow_ippd(const SlowTransformer& slow,
                                           const std::vector<IppdPrompt>& prompts, int limit,
                                           const std::vector<Token>& eos);

/// The same answers by independent decoding of every triplet (section 3).
std::vector<std::vector<Tokens>> slow_independent(const SlowTransformer& slow,
                                                  const std::vector<IppdPrompt>& prompts, int limit,
                                                  const std::vector<Token>& eos);

}  // namespace pardec::test
