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
  return last;  // rounding left the sum slightly below 1
}

Choice own_choice(const RowLogits& logits, Chance& chance) {
  const Token token =
      logits.probabilities.empty() ? logits.best : chance.draw(logits.probabilities);
  return {token, token, logits.best_logit - logits.second_logit};
}

Choice Chooser::choose(const RowLogits& logits) {
  Choice choice = own_choice(logits, *chance_);
  if (oracle_) {
    if (used_up()) throw std::logic_error("Chooser: the oracle has no more ids");
    choice.token = (*oracle_)[made_.size()];
  }
  made_.push_back(choice);
  return choice;
}

}  // namespace pardec
