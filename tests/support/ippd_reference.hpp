#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/support/types.hpp"
#include "tests/support/slow_transformer.hpp"

namespace pardec::test {

// A slow reference of IPPD, written from the paper: "Intra-Prompt Parallel Decoding for
// Common-Context Question Answering", sections 3 and 4.1 to 4.4, with the pads of section 4.4.
// Tokens are described as in the paper, without order, segment or rank. Contexts j, and questions k
// of a context, count from 1.

/// A token, in the terms of the paper.
struct IppdToken {
  enum class Kind { pad, instruction, context, question, answer };
  Kind kind = Kind::pad;
  int j = 0;  ///< number of the context; 0 for the instruction
  int k = 0;  ///< number of the question in the context; 0 for instruction and context
  int i = 0;  ///< index within p, c_j or x_jk, from 0; within an answer, t, from 1
};

/// The lengths of one prompt: |p|, |c_j|, |x_jk|, and y: number of computed tokens of each answer.
struct IppdCase {
  int p = 0;
  std::vector<int> c;
  std::vector<std::vector<int>> x, y;

  std::string text() const;
};

/// The tokens of the header (Eq. 1).
std::vector<IppdToken> header(const IppdCase& prompt);
/// A padded batch, one list of tokens per prompt, all of the same length, in the final order of the
/// memory (section 4.4). A list has pads on the left, up to the longest header; then the header;
/// then, for each step, the t-th token of every open answer, and pads up to the largest number of
/// open answers of a prompt.
std::vector<std::vector<IppdToken>> padded_batch(const std::vector<IppdCase>& prompts);

/// The virtual position of a token (Eqs 2 to 5). For a pad, it is infinity, "implemented as the
/// maximum long integer value".
std::int64_t virtual_position(const IppdCase& prompt, const IppdToken& token);
/// Whether `query` sees `key` (Eqs 6 to 9). The paper does not define context and question of a
/// pad; here they are -1.
bool final_mask(const IppdCase& prompt, const IppdToken& query, const IppdToken& key);

/// The ids of one prompt: p, c_j, x_jk.
struct IppdPrompt {
  Tokens p;
  std::vector<Tokens> c;
  std::vector<std::vector<Tokens>> x;
};

/// Decodes a padded batch with the slow transformer, greedily; everything is computed again in
/// every step. An answer ends after `limit` ids or with an id in `eos`. Returns the ids of each
/// answer: one entry per question, over all contexts, for each prompt.
std::vector<std::vector<Tokens>> slow_ippd(const SlowTransformer& slow,
                                           const std::vector<IppdPrompt>& prompts, int limit,
                                           const std::vector<Token>& eos);

/// Decodes every triplet (instruction, context, question) independently (section 3). The answers
/// must equal those of slow_ippd.
std::vector<std::vector<Tokens>> slow_independent(const SlowTransformer& slow,
                                                  const std::vector<IppdPrompt>& prompts, int limit,
                                                  const std::vector<Token>& eos);

}  // namespace pardec::test
