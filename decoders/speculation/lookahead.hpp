#pragma once
// Lookahead decoding (Fu et al. 2024, arXiv:2402.02057); decoders/speculation/lookahead.md explains
// the method. Letters are the paper's.
#include <list>
#include <map>
#include <span>
#include <vector>

#include "decoders/decoder.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

/// The options of lookahead decoding.
struct LookaheadOptions {
  int W = 7;  ///< number of columns of the window: future positions that are guessed in parallel
  int N = 5;  ///< length of n-grams in tokens; the window keeps the last N - 1 guesses per column
  int G = 7;  ///< maximum number of n-grams verified in one forward pass
};

/// The n-grams seen so far: for each first token, the G newest.
class NgramPool {
 public:
  explicit NgramPool(int G) : G_(G) {}
  /// Adds an n-gram as the newest n-gram with its first token. REQUIRES: the n-gram is not empty.
  void add(const Tokens& ngram);
  /// The n-grams that begin with `first`, each without this token, the newest first.
  std::vector<Tokens> starting_with(Token first) const;

 private:
  int G_;
  std::map<Token, std::list<Tokens>> behind_;
};

/// The result of verifying several paths of guesses after one token.
struct PathVerdict {
  int path = 0;      ///< index of the first path that begins with the accepted guesses
  int accepted = 0;  ///< number of accepted guesses
  /// [accepted + 1]: the choice of the root's row, then of the row of each accepted guess
  std::vector<Choice> choices;
};

/// Verifies paths of guesses, place by place, as long as a path agrees with the accepted guesses.
/// The row of the token before a place decides about the guesses at this place. Greedy: a guess is
/// accepted if it is the best id of this row. Sampling: a guess is accepted with the probability
/// p(guess) in this row's distribution p; a rejected guess is removed from p before the guess of
/// the next path is tried (Fu et al., Algorithm 4). With `forced`, the law decides at each place
/// whether the guess of the first path that agrees is accepted; other guesses are not tried. The
/// token after the accepted guesses is the network's own choice.
///   root   the row of the token before all paths
///   rows   [path][guess]: the rows of the guesses
///   paths  [path][guess]: the guesses; may be empty
PathVerdict verify_paths(const RowLogits& root, const std::vector<std::vector<RowLogits>>& rows,
                         const std::vector<Tokens>& paths, Chance& chance,
                         ForcedAcceptance forced = {});

/// The decoder's entry in the registry (decoders()).
DecoderEntry lookahead_entry();

}  // namespace pardec
