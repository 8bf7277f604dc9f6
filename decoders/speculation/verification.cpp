#include "decoders/speculation/verification.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "src/support/text.hpp"

namespace pardec {

namespace {

void check_sizes(std::span<const RowLogits> rows, const Candidates& candidates) {
  if (rows.size() != candidates.tokens.size() + 1)
    throw std::logic_error(str("verification: ", rows.size(), " rows for ",
                               candidates.tokens.size(), " candidates, expected one more"));
}

double at(const std::vector<double>& p, Token token) {
  const auto i = static_cast<size_t>(token);
  return i < p.size() ? p[i] : 0.0;
}

/// `rest` scaled to sum 1; p if it has no weight.
std::vector<double> normalised(std::vector<double> rest, const std::vector<double>& p) {
  const double sum = std::accumulate(rest.begin(), rest.end(), 0.0);
  if (sum <= 0) return p;
  for (double& weight : rest) weight /= sum;
  return rest;
}

Choice chosen(Token token, const RowLogits& row) {
  return {token, token, row.best_logit - row.second_logit};
}

}  // namespace

std::vector<double> residual(const std::vector<double>& p, const std::vector<double>& q) {
  std::vector<double> rest(p);
  for (size_t i = 0; i < std::min(p.size(), q.size()); ++i) rest[i] = std::max(0.0, p[i] - q[i]);
  return normalised(std::move(rest), p);
}

std::vector<double> residual(const std::vector<double>& p, Token token) {
  std::vector<double> rest(p);
  rest.at(static_cast<size_t>(token)) = 0;
  return normalised(std::move(rest), p);
}

Verdict accept_greedy(std::span<const RowLogits> rows, const Candidates& candidates) {
  check_sizes(rows, candidates);
  Verdict verdict;
  for (const RowLogits& row : rows) {
    const auto i = static_cast<size_t>(verdict.accepted);
    verdict.choices.push_back(chosen(row.best, row));
    if (i == candidates.tokens.size() || row.best != candidates.tokens[i]) break;
    ++verdict.accepted;
  }
  return verdict;
}

Verdict accept_sampled(std::span<const RowLogits> rows, const Candidates& candidates,
                       Chance& chance, Extra extra) {
  check_sizes(rows, candidates);
  Verdict verdict;
  for (size_t i = 0; i < candidates.tokens.size(); ++i) {
    const Token x = candidates.tokens[i];
    const std::vector<double>& p = rows[i].probabilities;
    const bool certain = i >= candidates.proposals.size() || candidates.proposals[i].empty();
    if (!chance.happens(at(p, x) / (certain ? 1.0 : at(candidates.proposals[i], x)))) {
      const std::vector<double> rest = extra == Extra::target ? p
                                       : certain              ? residual(p, x)
                                                 : residual(p, candidates.proposals[i]);
      verdict.choices.push_back(chosen(chance.draw(rest), rows[i]));
      return verdict;
    }
    verdict.choices.push_back(chosen(x, rows[i]));
    ++verdict.accepted;
  }
  verdict.choices.push_back(own_choice(rows.back(), chance));
  return verdict;
}

Verdict accept_forced(std::span<const RowLogits> rows, const Candidates& candidates, Chance& chance,
                      ForcedAcceptance forced) {
  check_sizes(rows, candidates);
  Verdict verdict;
  for (const RowLogits& row : rows) {
    const auto i = static_cast<size_t>(verdict.accepted);
    verdict.choices.push_back(own_choice(row, chance));
    if (i == candidates.tokens.size() || !forced.accepts(verdict.accepted)) break;
    verdict.choices.back().token = candidates.tokens[i];
    ++verdict.accepted;
  }
  return verdict;
}

Verdict verify(std::span<const RowLogits> rows, const Candidates& candidates, Chance& chance,
               ForcedAcceptance forced, Extra extra) {
  if (forced) return accept_forced(rows, candidates, chance, forced);
  if (!rows.empty() && !rows.front().probabilities.empty())
    return accept_sampled(rows, candidates, chance, extra);
  return accept_greedy(rows, candidates);
}

}  // namespace pardec
