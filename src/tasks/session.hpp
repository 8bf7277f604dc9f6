#pragma once
#include <memory>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/engine/engine.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/support/clock.hpp"
#include "src/tasks/decode_options.hpp"
#include "src/tasks/ends.hpp"

namespace pardec {

/// A network ready to answer: its checkpoint, the one that drafts for it, the engine over both, and
/// the markup of its prompts.
struct Session {
  struct Parts {
    bool tokenizer = true;  ///< false: ids in, ids out, and no markup
    bool draft = false;     ///< the decoder drafts with a network
    CacheBudget cache;
  };
  /// What `loaded` holds is not loaded again. ConfigError, ModelError; what is small is read before
  /// the weights.
  Session(const ModelOptions& model, const DecodeOptions& decode, const Parts& parts,
          Checkpoints& loaded);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Tokenizer* tokenizer() const { return context.tokenizer; }
  /// checkpoint_notes of the network, and of the one that drafts for it; end_notes.
  std::vector<std::string> file_notes() const;
  /// What pardec::end_notes says of it.
  const std::vector<std::string>& end_notes() const { return end_notes_; }

  ChatTemplate chat;
  const std::shared_ptr<Checkpoint> network;
  Checkpoint& checkpoint;
  const std::shared_ptr<Checkpoint> draft;  ///< null: none is needed
  const std::string note;                   ///< generation_note
  SteadyClock clock;
  Engine engine;
  DecoderContext context;
  const ThoughtReading thinking;  ///< how answers are told from the thought before them

 private:
  std::vector<std::string> end_notes_;
};

}  // namespace pardec
