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

/// A loaded network that is ready to answer: the checkpoint, the draft network, the engine, and the
/// chat template.
struct Session {
  /// The optional parts of a session.
  struct Parts {
    bool tokenizer = true;  ///< false: prompts and answers are token ids, without a chat template
    bool draft = false;     ///< whether a draft network is loaded
    CacheBudget cache;      ///< limit of the KV cache
  };
  /// Loads networks that are not in `loaded`. Small files are read before the weights, so that
  /// errors in them are found early. Errors: see template_for, parse_thinking, Checkpoints::get,
  /// load_draft and given_ends. `loaded` need not outlive the session.
  Session(const ModelOptions& model, const DecodeOptions& decode, const Parts& parts,
          Checkpoints& loaded);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The network's tokenizer; null if Parts::tokenizer is false.
  const Tokenizer* tokenizer() const { return context.tokenizer; }
  /// The lines of checkpoint_notes for the network and its draft network, and of end_notes.
  std::vector<std::string> file_notes() const;
  /// The lines of pardec::end_notes.
  const std::vector<std::string>& end_notes() const { return end_notes_; }

  ChatTemplate chat;  ///< `plain` if Parts::tokenizer is false
  const std::shared_ptr<Checkpoint> network;
  Checkpoint& checkpoint;                   ///< *network
  const std::shared_ptr<Checkpoint> draft;  ///< draft network; null: none
  const std::string note;                   ///< generation_note
  SteadyClock clock;
  Engine engine;
  DecoderContext context;         ///< for decoders; refers to the members above
  const ThoughtReading thinking;  ///< how thinking is separated from the answer

 private:
  std::vector<std::string> end_notes_;
};

}  // namespace pardec
