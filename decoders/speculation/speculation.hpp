#pragma once
// The loop shared by speculative, prompt-lookup and self-speculative, which differ in their
// drafters.
#include <functional>
#include <memory>
#include <string_view>

#include "decoders/free_running.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

/// `--oracle accept...` for one stream, if requested, with its own random numbers, derived from its
/// seed.
struct AcceptanceOracle {
  std::unique_ptr<Chance> coins;
  ForcedAcceptance forced;  ///< refers to `coins`
};
AcceptanceOracle acceptance_oracle(const StreamRequest& request, const DecoderContext& context);

/// Makes guesses for one stream.
class Drafter {
 public:
  virtual ~Drafter() = default;
  /// At most `room` (at least 1) tokens that may follow `text`; may be empty. The network's cache
  /// contains the first `cached` tokens of `text`.
  virtual Task<Candidates> draft(const Tokens& text, int cached, int room) = 0;
  /// Reports the result of the last draft.
  virtual void learn(int drafted, int accepted) {
    (void)drafted;
    (void)accepted;
  }
  /// Called when the stream has ended.
  virtual void finish() {}
};

/// Objects that a drafter may use. All must outlive it.
struct DraftScene {
  Sequence& sequence;  ///< of the verifying network
  Chance& chance;
  const Sampling& sampling;
  const std::vector<Token>& eos;  ///< guesses after one of these are useless
};
using MakeDrafter = std::function<std::unique_ptr<Drafter>(DraftScene)>;

/// Decodes a stream by drafting and verifying. `decoder` is its name in traces.
Task<Stream> speculate(std::string_view decoder, StreamRequest request,
                       const DecoderContext& context, MakeDrafter make);

}  // namespace pardec
