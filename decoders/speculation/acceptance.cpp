#include "decoders/speculation/acceptance.hpp"

#include <algorithm>
#include <cmath>

namespace pardec {

bool ForcedAcceptance::accepts(int place) {
  if (law_.length <= 0)
    return coins_->happens(law_.rates[std::min(static_cast<size_t>(place), law_.rates.size() - 1)]);
  if (place == 0) {
    const double guesses = law_.length - 1, whole = std::floor(guesses);
    accepted_ = static_cast<int>(whole) + (guesses > whole && coins_->happens(guesses - whole));
  }
  return place < accepted_;
}

}  // namespace pardec
