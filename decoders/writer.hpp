#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// Records the choices of one stream of a sequence: as events, in the counters, and in the stream's
/// result.
class Writer {
 public:
  /// `stream`: its number within the sequence. `forced`: its ids come from an oracle, so the
  /// network's own choices are recorded, too. `sequence` must outlive this object.
  Writer(Sequence& sequence, bool forced, int stream = 0)
      : sequence_(&sequence), forced_(forced), stream_(stream) {}

  /// Records a choice from `row` as the next token of the stream. `guessed`: as in Sequence::emit.
  void record(const Choice& choice, int row, Chosen& stream, bool guessed = false) const;
  /// Reports that these guesses after `row` were verified and are not part of the stream.
  void reject(int row, std::span<const Token> guesses) const {
    sequence_->reject(row, guesses, stream_);
  }

 private:
  Sequence* sequence_;
  bool forced_;
  int stream_;
};

}  // namespace pardec
