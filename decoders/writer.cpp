#include "decoders/writer.hpp"

namespace pardec {

void Chosen::append(const Chosen& more) {
  tokens.insert(tokens.end(), more.tokens.begin(), more.tokens.end());
  unforced.insert(unforced.end(), more.unforced.begin(), more.unforced.end());
  gaps.insert(gaps.end(), more.gaps.begin(), more.gaps.end());
}

void Writer::record(const Choice& choice, int row, Chosen& stream, bool guessed) const {
  sequence_->emit(row, choice.token, stream_, guessed);
  ++sequence_->counters().chosen;
  stream.tokens.push_back(choice.token);
  stream.gaps.push_back(choice.gap);
  if (forced_) stream.unforced.push_back(choice.unforced);
}

}  // namespace pardec
