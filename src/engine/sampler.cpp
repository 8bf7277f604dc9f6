#include "src/engine/sampler.hpp"

#include <stdexcept>

namespace pardec {

Token draw(const std::vector<double>& probabilities, Rng& rng) {
  const double u = rng.uniform();
  double sum = 0;
  Token last = 0;
  for (size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] <= 0) continue;
    last = static_cast<Token>(i);
    sum += probabilities[i];
    if (u < sum) return last;
  }
  return last;  // rounding left the sum a little under 1
}

Choice Chooser::choose(const RowLogits& logits) {
  Choice choice{};
  choice.unforced = logits.probabilities.empty() ? logits.best : draw(logits.probabilities, *rng_);
  choice.token = choice.unforced;
  if (oracle_) {
    if (used_up()) throw std::logic_error("Chooser: the oracle has no more ids");
    choice.token = (*oracle_)[made_.size()];
  }
  choice.gap = logits.best_logit - logits.second_logit;
  made_.push_back(choice);
  return choice;
}

}  // namespace pardec
