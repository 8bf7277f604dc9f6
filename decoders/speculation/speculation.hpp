#pragma once
// The loop of drafting and verifying that the decoders speculative, prompt-lookup and
// self-speculative share. These decoders differ only in how guesses are made (Drafter).
#include <functional>
#include <memory>
#include <string_view>

#include "decoders/free_running.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

/// The oracle `accept...` for one stream.
struct AcceptanceOracle {
  std::unique_ptr<Chance> coins;
  ForcedAcceptance forced;  ///< refers to `coins`
};
/// Makes the oracle of a request. Its random decisions are independent of the stream's other
/// random decisions, but derived from the stream's seed. If the request has no such oracle,
/// `coins` is null, and `forced` has no law.
AcceptanceOracle acceptance_oracle(const StreamRequest& request, const DecoderContext& context);

/// Makes guesses for one stream.
class Drafter {
 public:
  virtual ~Drafter() = default;
  /// Guesses the tokens after `text`, which is the prompt and the answer so far: at most `room`
  /// tokens, possibly none. `cached`: number of tokens of `text` that are in the verifying
  /// network's cache. REQUIRES: room >= 1.
  virtual Task<Candidates> draft(const Tokens& text, int cached, int room) = 0;
  /// Called after each pass of the verifying network. `drafted`: number of guesses that the pass
  /// verified (0: there was no draft). `accepted`: how many of these guesses were accepted.
  virtual void learn(int drafted, int accepted) {
    (void)drafted;
    (void)accepted;
  }
  /// Called when the stream has ended.
  virtual void finish() {}
};

/// The objects that a drafter may use. All must outlive it.
struct DraftScene {
  Sequence& sequence;  ///< sequence of the verifying network
  Chance& chance;      ///< source of the stream's random decisions
  const Sampling& sampling;
  const std::vector<Token>& eos;  ///< end-of-sequence ids; a draft should end with them
};
using MakeDrafter = std::function<std::unique_ptr<Drafter>(DraftScene)>;

/// Decodes a stream by drafting and verifying. `decoder`: the name in traces. `make`: creates the
/// drafter. REQUIRES: `context` outlives the task. Errors: see Decoder::decode.
Task<Stream> speculate(std::string_view decoder, StreamRequest request,
                       const DecoderContext& context, MakeDrafter make);

}  // namespace pardec
