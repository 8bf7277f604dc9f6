#pragma once
#include <string>

#include "decoders/apar/tree.hpp"
#include "decoders/decoder.hpp"
#include "decoders/medusa/tree.hpp"

namespace pardec {

/// 0 lifts a cap.
struct AparOptions {
  int max_threads = 32;  ///< threads alive at once; [Fork] is banned where one more would be
  int max_depth = 2;     ///< of threads, the prompt's being 1; [Fork] is banned in the deepest
  int max_total = 4096;  ///< ids chosen by all threads of one prompt, once there are several
  std::string fork_token, child_token;  ///< id or text; empty: found by name
  MedusaTree medusa = {};               ///< of guesses behind each thread's last token; empty: none
};

/// The two control tokens (paper, section 2.2). [Fork] is chosen by the network, [Child] only fed.
struct AparTokens {
  Token fork = 0, child = 0;
};

/// What the options name, else `[Fork]` and `[Child]` of the vocabulary, or the names of the
/// official checkpoints. ConfigError as find_control_token.
AparTokens apar_tokens(const AparOptions& options, const Tokenizer* tokenizer, int vocab_size,
                       bool trains = false);

/// Threads, share of parallel answers, rows in the cache and tokens attended to (section 4).
OwnColumns apar_columns();

DecoderEntry apar_entry();

}  // namespace pardec
