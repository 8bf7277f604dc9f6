#pragma once
#include <cmath>
#include <span>
#include <vector>

#include "src/model/model.hpp"

namespace pardec {

/// The natural logarithms of the probabilities of `ids`, in the order of `ids`, at temperature 1,
/// without top-k or top-p. The request's biases, penalty and bans are applied. The logarithm is
/// -infinity for an id that cannot be chosen, because it is banned or not among the allowed ids.
/// REQUIRES: row.finite(); the row was requested with OutputRequest::logits; the ids are in the
/// vocabulary.
inline std::vector<double> log_probabilities(const RowLogits& row, std::span<const Token> ids) {
  double sum = 0;
  for (const float logit : row.logits)
    sum += std::exp(static_cast<double>(logit) - static_cast<double>(row.best_logit));
  std::vector<double> logs;
  for (const Token id : ids)
    logs.push_back(static_cast<double>(row.logits[static_cast<size_t>(id)]) -
                   static_cast<double>(row.best_logit) - std::log(sum));
  return logs;
}

}  // namespace pardec
