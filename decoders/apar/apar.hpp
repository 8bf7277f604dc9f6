#pragma once
// Auto-Parallel Auto-Regressive Decoding. The paper is Liu et al., arXiv:2401.06761;
// decoders/apar/README.md explains the method.
#include <string>

#include "decoders/apar/tree.hpp"
#include "decoders/decoder.hpp"
#include "decoders/medusa/tree.hpp"

namespace pardec {

/// The options of APAR. In the three limits, 0 means no limit.
struct AparOptions {
  /// Maximum number of running threads. If a fork would exceed this number, [Fork] is banned.
  int max_threads = 32;
  /// Maximum depth of threads. The prompt's own thread has depth 1. At this depth, [Fork] is
  /// banned.
  int max_depth = 2;
  /// Maximum number of generated tokens, summed over all threads of a prompt. This limit does not
  /// apply before the first fork.
  int max_total = 4096;
  /// The control tokens [Fork] and [Child], each given by its id or its text. Empty: apar_tokens
  /// finds the token by name.
  std::string fork_token, child_token;
  MedusaTree medusa = {};  ///< the guesses after each thread's last token; no nodes: no guesses
};

/// The two control tokens (paper, section 2.2). The network chooses [Fork]; the decoder inserts
/// [Child].
struct AparTokens {
  Token fork = 0, child = 0;
};

/// Finds the two control tokens: each is the token in the options, or, if that option is empty, the
/// first token of a list that the tokenizer has. The list for the fork token is `[Fork]`,
/// `<|fork|>`, `[SplitMask]`. The list for the child token is `[Child]`, `<|child|>`, `[SplitSop]`.
/// (The official checkpoints use the last name of each list.)
/// `tokenizer`, `vocab_size`: see find_control_token. `trains`: see ControlToken::to_train.
/// ConfigError: see find_control_token; or both tokens have the same id.
AparTokens apar_tokens(const AparOptions& options, const Tokenizer* tokenizer, int vocab_size,
                       bool trains = false);

/// APAR's own columns (section 3.4): the mean number of threads per answer, the share of answers
/// with several threads (no value if a response has several answers), the maximum number of rows in
/// the cache (mean over answers), and the mean number of earlier tokens to which a token of the
/// text attends.
OwnColumns apar_columns();

/// The decoder's entry in the registry (decoders()).
DecoderEntry apar_entry();

}  // namespace pardec
