#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

/// Records the choices of one stream of a sequence: for whoever follows the sequence, in its count,
/// and in what the stream becomes.
class Writer {
 public:
  /// `stream`: which of its sequence's it is. `forced`: its ids come from an oracle, so the
  /// network's own are kept beside them. `sequence` outlives this.
  Writer(Sequence& sequence, bool forced, int stream = 0)
      : sequence_(&sequence), forced_(forced), stream_(stream) {}

  /// `row` made the choice, which is the next of the stream. `guessed`: as in Sequence::emit.
  void record(const Choice& choice, int row, Chosen& stream, bool guessed = false) const;
  /// These guesses behind `row` were checked and are no part of the stream.
  void reject(int row, std::span<const Token> guesses) const {
    sequence_->reject(row, guesses, stream_);
  }

 private:
  Sequence* sequence_;
  bool forced_;
  int stream_;
};

}  // namespace pardec
