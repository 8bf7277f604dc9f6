#pragma once
#include <optional>

#include "decoders/decoder.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/engine/engine.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/support/clock.hpp"
#include "src/tasks/decode_options.hpp"

namespace pardec {

/// A network ready to answer: its checkpoint, the one that drafts for it, the engine over both, and
/// the markup of its prompts.
struct Session {
  struct Parts {
    bool tokenizer = true;  ///< false: ids in, ids out, and no markup
    bool draft = false;     ///< some decoder drafts with a network
    CacheBudget cache;
  };
  /// ConfigError, ModelError; what is small is read before the weights.
  Session(const ModelOptions& model, const DecodeOptions& decode, const Parts& parts);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Tokenizer* tokenizer() const { return context.tokenizer; }

  ChatTemplate chat;
  Checkpoint checkpoint;
  std::optional<Checkpoint> draft;
  SteadyClock clock;
  Engine engine;
  DecoderContext context;
};

}  // namespace pardec
