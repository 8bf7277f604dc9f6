#pragma once
// Shared by decoders with guesses: the target network's verdict on a sequence of candidates.
// Source: Leviathan et al. 2023, arXiv:2211.17192, Algorithm 1; Chen et al. 2023, arXiv:2302.01318.
// Greedy ids equal those of plain greedy decoding; sampled ids have the same distribution as plain
// sampling (proofs in the papers' appendices A.1 and 1).
#include <span>
#include <vector>

#include "decoders/speculation/acceptance.hpp"
#include "src/engine/sampler.hpp"

namespace pardec {

/// Consecutive tokens that may come next, and the distributions they were drawn from.
struct Candidates {
  Tokens tokens;
  /// Per token, the distribution that it was drawn from, [vocab], warped like the target's. Empty
  /// for a deterministic token (a greedy draft, an n-gram), whose probability is 1.
  std::vector<std::vector<double>> proposals;

  int size() const { return static_cast<int>(tokens.size()); }
  /// The tokens after the first `accepted`.
  std::span<const Token> from(int accepted) const {
    return std::span(tokens).subspan(static_cast<size_t>(accepted));
  }
};

/// The distribution of the extra token after the last accepted candidate, if one was rejected.
enum class Extra {
  residual,  ///< norm(max(0, p - q)): lossless
  target,    ///< p itself, as in SPACE's Algorithm 1 (biased)
};

/// The target's verdict: the accepted candidates, and one token of its own after them.
struct Verdict {
  int accepted = 0;             ///< number of candidates accepted, from the first on
  std::vector<Choice> choices;  ///< [accepted + 1]; choice i was made by row i
};

/// norm(max(0, p - q)), or p if nothing remains (p = q up to rounding). Ids beyond the end of q
/// have weight 0 in it.
std::vector<double> residual(const std::vector<double>& p, const std::vector<double>& q);
/// The same for a q that gives `token` probability 1. The result is p without `token`,
/// renormalised.
std::vector<double> residual(const std::vector<double>& p, Token token);

/// Candidate i is accepted if it is the best id of row i. The best id of the last row reached
/// follows.
///   rows  [candidates + 1]: row 0 is the last accepted token's, row i + 1 is candidate i's
Verdict accept_greedy(std::span<const RowLogits> rows, const Candidates& candidates);

/// Candidate x_i is accepted with probability min(1, p_i(x_i) / q_i(x_i)). The token after the
/// first rejected one is drawn as `extra` says; if all are accepted, it comes from the last row
/// (the bonus).
///   rows  [candidates + 1], with probabilities
Verdict accept_sampled(std::span<const RowLogits> rows, const Candidates& candidates,
                       Chance& chance, Extra extra = Extra::residual);

/// Candidate i is accepted if the law says so; the token after the last accepted one is the
/// network's own. `unforced` contains the network's own choice in each row.
Verdict accept_forced(std::span<const RowLogits> rows, const Candidates& candidates, Chance& chance,
                      ForcedAcceptance forced);

/// Uses the applicable one of the three: forced if `forced` has a law, sampled if the rows have
/// probabilities, otherwise greedy.
Verdict verify(std::span<const RowLogits> rows, const Candidates& candidates, Chance& chance,
               ForcedAcceptance forced = {}, Extra extra = Extra::residual);

}  // namespace pardec
