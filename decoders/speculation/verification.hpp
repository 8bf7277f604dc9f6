#pragma once
// Verification of a sequence of candidates by the target network. Source: Leviathan et al. 2023,
// arXiv:2211.17192, Algorithm 1; Chen et al. 2023, arXiv:2302.01318. With greedy verification, the
// tokens equal the tokens of greedy decoding without guesses. With sampling and Extra::residual,
// they have the same distribution as tokens sampled without guesses (proofs in the papers'
// appendices A.1 and 1).
#include <span>
#include <vector>

#include "decoders/speculation/acceptance.hpp"
#include "src/engine/sampler.hpp"

namespace pardec {

/// Guesses for the next tokens, in order, and the distributions from which the guesses were drawn.
struct Candidates {
  Tokens tokens;
  /// Per token: the distribution from which it was drawn, [vocab], after the same temperature,
  /// top-k and top-p as the target network's distribution. An empty distribution means that the
  /// token had probability 1 (greedy draft, n-gram). If there are fewer distributions than tokens,
  /// missing distributions count as empty.
  std::vector<std::vector<double>> proposals;

  int size() const { return static_cast<int>(tokens.size()); }
  /// The candidates after the first `accepted` candidates. REQUIRES: 0 <= accepted <= size().
  std::span<const Token> from(int accepted) const {
    return std::span(tokens).subspan(static_cast<size_t>(accepted));
  }
};

/// The distribution of the token that replaces the first rejected candidate. p is the target
/// network's distribution, and q the distribution from which the candidate was drawn.
enum class Extra {
  residual,  ///< norm(max(0, p - q)): lossless
  target,    ///< p itself, as in SPACE's Algorithm 1: biased
};

/// The result of verification: the accepted candidates, and one token that the target network
/// chooses after them.
struct Verdict {
  int accepted = 0;             ///< number of accepted candidates
  std::vector<Choice> choices;  ///< [accepted + 1]; choice i was made from row i
};

/// The residual distribution norm(max(0, p - q)); p itself if no weight is left. q may be shorter
/// than p; ids beyond the end of q have probability 0 in q.
std::vector<double> residual(const std::vector<double>& p, const std::vector<double>& q);
/// The residual distribution for a q in which `token` has probability 1: p without `token`,
/// renormalised; p itself if no weight is left.
std::vector<double> residual(const std::vector<double>& p, Token token);

/// Greedy verification: candidate i is accepted if it is the best id of row i. The token after the
/// accepted candidates is the best id of the next row. std::logic_error: the number of rows is not
/// the number of candidates plus 1.
///   rows  [candidates + 1]: row 0 belongs to the last token of the text, row i + 1 to candidate i
Verdict accept_greedy(std::span<const RowLogits> rows, const Candidates& candidates);

/// Verification when sampling: candidate x_i is accepted with probability min(1, p_i(x_i) /
/// q_i(x_i)). `extra`: the distribution from which the token that replaces the first rejected
/// candidate is drawn. If all candidates are accepted, one more token is drawn from the last row.
/// std::logic_error: see accept_greedy.
///   rows  [candidates + 1], as for accept_greedy, with probabilities
Verdict accept_sampled(std::span<const RowLogits> rows, const Candidates& candidates,
                       Chance& chance, Extra extra = Extra::residual);

/// Forced verification: the law of `forced` decides which candidates are accepted. The token after
/// them is the network's own choice. Choice::unforced is the network's own choice in each row.
/// std::logic_error: see accept_greedy.
///   rows  [candidates + 1], as for accept_greedy
Verdict accept_forced(std::span<const RowLogits> rows, const Candidates& candidates, Chance& chance,
                      ForcedAcceptance forced);

/// Calls accept_forced if `forced` has a law, or else accept_sampled if the rows have
/// probabilities, or else accept_greedy. `extra`: for accept_sampled. std::logic_error: see
/// accept_greedy.
Verdict verify(std::span<const RowLogits> rows, const Candidates& candidates, Chance& chance,
               ForcedAcceptance forced = {}, Extra extra = Extra::residual);

}  // namespace pardec
