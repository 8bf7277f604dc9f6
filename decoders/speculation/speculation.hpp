#pragma once
// The loop that speculative, prompt-lookup and self-speculative share: they differ in who drafts.
#include <functional>
#include <memory>
#include <string_view>

#include "decoders/free_running.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

/// `--oracle accept...` for one stream, where it is asked for: coins of its own, by its seed.
struct AcceptanceOracle {
  std::unique_ptr<Chance> coins;
  ForcedAcceptance forced;  ///< looks at `coins`
};
AcceptanceOracle acceptance_oracle(const StreamRequest& request, const DecoderContext& context);

/// What guesses ahead of the network, for one stream.
class Drafter {
 public:
  virtual ~Drafter() = default;
  /// At most `room` (at least 1) tokens that may follow `text`; none is allowed. The network's
  /// cache holds the first `cached` tokens of it.
  virtual Task<Candidates> draft(const Tokens& text, int cached, int room) = 0;
  /// What became of the last draft.
  virtual void learn(int drafted, int accepted) {
    (void)drafted;
    (void)accepted;
  }
  /// The stream has ended.
  virtual void finish() {}
};

/// What a drafter may use. All outlive it.
struct DraftScene {
  Sequence& sequence;  ///< of the network that verifies
  Chance& chance;
  const Sampling& sampling;
  const std::vector<Token>& eos;  ///< behind one of these no guess is of use
};
using MakeDrafter = std::function<std::unique_ptr<Drafter>(DraftScene)>;

/// Decodes a stream by drafting and verifying; `decoder` names it in traces.
Task<Stream> speculate(std::string_view decoder, StreamRequest request,
                       const DecoderContext& context, MakeDrafter make);

}  // namespace pardec
