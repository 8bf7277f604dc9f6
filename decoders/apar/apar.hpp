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
  /// Maximum number of generated tokens over all threads of a prompt. It does not apply before the
  /// first fork.
  int max_total = 4096;
  /// [Fork] and [Child]: each an id or the text of a token; empty: found by name (apar_tokens).
  std::string fork_token, child_token;
  MedusaTree medusa = {};  ///< guesses after each thread's last token; empty: none
};

/// The two control tokens (paper, section 2.2). The network chooses [Fork]; the decoder inserts
/// [Child].
struct AparTokens {
  Token fork = 0, child = 0;
};

/// Finds the control tokens. Each is the token in the options, or, if the option is empty, the
/// first of these names that is in the tokenizer: `[Fork]`, `<|fork|>`, `[SplitMask]`; and
/// `[Child]`, `<|child|>`, `[SplitSop]`. (The official checkpoints use the last name of each list.)
/// `tokenizer`, `vocab_size`: see find_control_token. `trains`: see ControlToken::to_train.
/// ConfigError: see find_control_token; or both tokens have the same id.
AparTokens apar_tokens(const AparOptions& options, const Tokenizer* tokenizer, int vocab_size,
                       bool trains = false);

/// APAR's own columns (section 3.4): threads per answer, share of answers with several threads (no
/// value if a response has several answers), maximum number of rows in the cache (mean over
/// answers), and attended tokens per token of the text.
OwnColumns apar_columns();

/// The decoder's entry in the registry (decoders()).
DecoderEntry apar_entry();

}  // namespace pardec
