#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// Records the chosen tokens of one stream: as events, in the sequence's counters, and in the
/// result.
class Writer {
 public:
  /// `forced`: whether an oracle chooses the tokens; the network's own choices are then recorded
  /// too. `stream`: number of the stream within the sequence, from 0. `sequence` must outlive this
  /// object.
  Writer(Sequence& sequence, bool forced, int stream = 0)
      : sequence_(&sequence), forced_(forced), stream_(stream) {}

  /// Records a choice that was made from the logits of `row` as the next token, and appends it to
  /// `stream`. `guessed`: see TokenEvent.
  void record(const Choice& choice, int row, Chosen& stream, bool guessed = false) const;
  /// Reports as an event that these guesses for the tokens after `row` were verified and rejected.
  void reject(int row, std::span<const Token> guesses) const {
    sequence_->reject(row, guesses, stream_);
  }

 private:
  Sequence* sequence_;
  bool forced_;
  int stream_;
};

}  // namespace pardec
