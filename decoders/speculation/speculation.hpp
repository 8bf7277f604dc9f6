#pragma once
// The loop that speculative, prompt-lookup and self-speculative share. They differ in their
// drafters.
#include <functional>
#include <memory>
#include <string_view>

#include "decoders/free_running.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

/// The oracle `accept...` for one stream. Its random numbers are independent of the stream's, and
/// derived from the stream's seed. Empty if the request has no such oracle.
struct AcceptanceOracle {
  std::unique_ptr<Chance> coins;
  ForcedAcceptance forced;  ///< refers to `coins`
};
AcceptanceOracle acceptance_oracle(const StreamRequest& request, const DecoderContext& context);

/// Makes guesses for one stream.
class Drafter {
 public:
  virtual ~Drafter() = default;
  /// Guesses the tokens after `text`: at most `room` tokens, possibly none. `cached`: number of
  /// tokens of `text` that are in the verifying network's cache. REQUIRES: room >= 1.
  virtual Task<Candidates> draft(const Tokens& text, int cached, int room) = 0;
  /// Reports how many tokens of the last draft were accepted.
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
  Chance& chance;
  const Sampling& sampling;
  const std::vector<Token>& eos;  ///< end-of-sequence ids; a draft should end with them
};
using MakeDrafter = std::function<std::unique_ptr<Drafter>(DraftScene)>;

/// Decodes a stream by drafting and verifying. `decoder`: the name in traces. `make`: creates the
/// drafter.
Task<Stream> speculate(std::string_view decoder, StreamRequest request,
                       const DecoderContext& context, MakeDrafter make);

}  // namespace pardec
