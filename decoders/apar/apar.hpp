#pragma once
#include <string>

#include "decoders/apar/tree.hpp"
#include "decoders/decoder.hpp"
#include "decoders/medusa/tree.hpp"

namespace pardec {

/// In each member, 0 means no limit.
struct AparOptions {
  /// maximum number of live threads; [Fork] is banned if it would exceed this
  int max_threads = 32;
  /// maximum depth of threads, with the prompt's thread at depth 1; [Fork] is banned at this depth
  int max_depth = 2;
  /// maximum number of generated tokens of all threads of one prompt together; not applied while
  /// the prompt has a single thread
  int max_total = 4096;
  /// id or text; empty: the vocabulary's token with a known name (`apar_tokens`)
  std::string fork_token, child_token;
  MedusaTree medusa = {};  ///< tree of guesses after each thread's last token; empty: no guesses
};

/// The two control tokens (paper, section 2.2). [Fork] is chosen by the network; [Child] is only
/// inserted.
struct AparTokens {
  Token fork = 0, child = 0;
};

/// The tokens named by the options; otherwise `[Fork]` and `[Child]` of the vocabulary, or the
/// names in the official checkpoints. ConfigError as in find_control_token.
AparTokens apar_tokens(const AparOptions& options, const Tokenizer* tokenizer, int vocab_size,
                       bool trains = false);

/// Columns: threads, share of parallel answers, rows in the cache, attended tokens (section 3.4).
OwnColumns apar_columns();

DecoderEntry apar_entry();

}  // namespace pardec
