#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/slow_transformer.hpp"

namespace pardec::test {

/// APAR, written only from the paper: every thread is a plain list of tokens that is computed again
/// for each choice, and a fork copies the list (Algorithm 1). No tree mask, no cache, no positions.
struct SlowAparRules {
  Token fork, child;
  std::vector<Token> eos;
  int limit = 0;                       ///< ids chosen in all, at most
  int max_threads = 0, max_depth = 0;  ///< 0: no cap
};

struct SlowApar {
  Tokens chosen;                    ///< in order of choice
  Tokens restored;                  ///< text tokens, in root - first_child - next_sibling order
  std::vector<Tokens> threads;      ///< without the prompt, in order of birth
  std::vector<size_t> fed;          ///< number of tokens of each that the network has read
  std::vector<std::int64_t> slots;  ///< by step: tokens that some live thread has
  std::vector<int> live;            ///< by step: live threads
  double attended = 0;              ///< tokens before a text token on its thread, on average
};
SlowApar slow_apar(const SlowTransformer& theta, const Tokens& prompt, const SlowAparRules& rules);

}  // namespace pardec::test
