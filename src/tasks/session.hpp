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

/// A network ready to answer: its checkpoint, its draft network, the engine for both, and the
/// markup of its prompts.
struct Session {
  struct Parts {
    bool tokenizer = true;  ///< false: ids in, ids out, without markup
    bool draft = false;     ///< whether the decoder drafts with a network
    CacheBudget cache;
  };
  /// Networks in `loaded` are not loaded again. ConfigError, ModelError; small files are read
  /// before the weights.
  Session(const ModelOptions& model, const DecodeOptions& decode, const Parts& parts,
          Checkpoints& loaded);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Tokenizer* tokenizer() const { return context.tokenizer; }
  /// checkpoint_notes of the network and of its draft network, and end_notes.
  std::vector<std::string> file_notes() const;
  /// The notes from pardec::end_notes.
  const std::vector<std::string>& end_notes() const { return end_notes_; }

  ChatTemplate chat;
  const std::shared_ptr<Checkpoint> network;
  Checkpoint& checkpoint;
  const std::shared_ptr<Checkpoint> draft;  ///< null: there is none
  const std::string note;                   ///< generation_note
  SteadyClock clock;
  Engine engine;
  DecoderContext context;
  const ThoughtReading thinking;  ///< how reasoning is separated from the answer after it

 private:
  std::vector<std::string> end_notes_;
};

}  // namespace pardec
