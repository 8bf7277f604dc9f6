#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/slow_transformer.hpp"

namespace pardec::test {

// A slow reference of APAR, written from the paper only (Algorithm 1). Every thread is a list of
// tokens. The whole list is computed again for each token, and a fork copies the list. There is no
// tree mask, no cache, and no positions.

/// The settings of the reference.
struct SlowAparRules {
  Token fork, child;  ///< the control tokens [Fork] and [Child]
  std::vector<Token> eos;
  int limit = 0;                       ///< maximum number of tokens chosen, over all threads
  int max_threads = 0, max_depth = 0;  ///< 0: no limit
};

/// The result of the reference.
struct SlowApar {
  Tokens chosen;                    ///< in order of choice
  Tokens restored;                  ///< text in reading order: root, first_child, next_sibling
  std::vector<Tokens> threads;      ///< tokens per thread without the prompt; in order of creation
  std::vector<size_t> fed;          ///< computed inputs per thread, without the prompt
  std::vector<std::int64_t> slots;  ///< per step: number of distinct tokens of all running threads
  std::vector<int> live;            ///< per step: number of running threads
  /// mean number of tokens before a text token on its thread, including the prompt and the tokens
  /// copied from the parent thread
  double attended = 0;
};
/// Runs Algorithm 1 with greedy choices by the network `theta`.
SlowApar slow_apar(const SlowTransformer& theta, const Tokens& prompt, const SlowAparRules& rules);

}  // namespace pardec::test
