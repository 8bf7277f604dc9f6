#pragma once
// What decoders that guess ahead share: the target network's verdict on a row of candidates.
// Source: Leviathan et al. 2023, arXiv:2211.17192, Algorithm 1; Chen et al. 2023, arXiv:2302.01318.
// Greedy ids are those of plain greedy decoding; sampled ids have its distribution (the proofs are
// in the papers' appendices A.1 and 1).
#include <span>
#include <vector>

#include "decoders/speculation/acceptance.hpp"
#include "src/engine/sampler.hpp"

namespace pardec {

/// Tokens that may come next, one after another, and how they were found.
struct Candidates {
  Tokens tokens;
  /// Per token the distribution it was drawn from, [vocab], warped as the target's. Empty for a
  /// token that came with certainty (a greedy draft, an n-gram): all weight lies on it then.
  std::vector<std::vector<double>> proposals;

  int size() const { return static_cast<int>(tokens.size()); }
  /// Those after the first `accepted`.
  std::span<const Token> from(int accepted) const {
    return std::span(tokens).subspan(static_cast<size_t>(accepted));
  }
};

/// Where the extra token behind the last accepted candidate comes from when one was rejected.
enum class Extra {
  residual,  ///< norm(max(0, p - q)): lossless
  target,    ///< p itself: what SPACE's Algorithm 1 writes (biased)
};

/// What the target made of candidates: the accepted ones, and one token of its own behind them.
struct Verdict {
  int accepted = 0;             ///< candidates kept: the first so many
  std::vector<Choice> choices;  ///< [accepted + 1]; choice i was made by row i
};

/// norm(max(0, p - q)); p where nothing is left (p = q up to rounding). Ids beyond the end of q
/// have no weight in it.
std::vector<double> residual(const std::vector<double>& p, const std::vector<double>& q);
/// The same where q has all its weight on `token`: p without it, renormalised.
std::vector<double> residual(const std::vector<double>& p, Token token);

/// Candidate i stays while it is the best of row i; then the best of the row reached follows.
///   rows  [candidates + 1]: row 0 is the last accepted token's, row i + 1 candidate i's
Verdict accept_greedy(std::span<const RowLogits> rows, const Candidates& candidates);

/// Candidate x_i stays with probability min(1, p_i(x_i) / q_i(x_i)); the token behind the first
/// rejected one comes from `extra`, behind all of them from the last row (the bonus).
///   rows  [candidates + 1], with probabilities
Verdict accept_sampled(std::span<const RowLogits> rows, const Candidates& candidates,
                       Chance& chance, Extra extra = Extra::residual);

/// Candidate i stays if the law says so; the token after the last accepted one is the network's
/// own. `unforced` keeps what the network itself chose in each row.
Verdict accept_forced(std::span<const RowLogits> rows, const Candidates& candidates, Chance& chance,
                      ForcedAcceptance forced);

/// Whichever of the three applies: forced where `forced` has a law, sampled where the rows have
/// probabilities, else greedy.
Verdict verify(std::span<const RowLogits> rows, const Candidates& candidates, Chance& chance,
               ForcedAcceptance forced = {}, Extra extra = Extra::residual);

}  // namespace pardec
