#pragma once
#include <list>
#include <map>
#include <span>
#include <vector>

#include "decoders/decoder.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

struct LookaheadOptions {
  int W = 7;  ///< columns of the window: future positions guessed in parallel
  int N = 5;  ///< length of an n-gram; the window keeps N - 1 past guesses of each column
  int G = 7;  ///< maximum number of n-grams verified in one forward pass
};

/// N-grams seen so far, by their first token: the G newest of each.
class NgramPool {
 public:
  explicit NgramPool(int G) : G_(G) {}
  void add(const Tokens& ngram);
  /// The continuations of `first`, newest first.
  std::vector<Tokens> starting_with(Token first) const;

 private:
  int G_;
  std::map<Token, std::list<Tokens>> behind_;
};

/// The network's verdict on several paths of guesses that begin at one token.
struct PathVerdict {
  int path = 0;                 ///< a path that contains the accepted guesses
  int accepted = 0;             ///< number of its guesses that are accepted
  std::vector<Choice> choices;  ///< [accepted + 1], as in Verdict
};

/// Accepts guesses along the paths as long as at least one path agrees with the network. Greedy:
/// compares guesses with the best id. Sampling: accepts guess by guess with probability p(guess); a
/// rejected guess is removed from p (Fu et al., Algorithm 4). Forced: `forced` decides the
/// acceptance.
///   root   the row of the token that the paths begin at
///   rows   [path][guess]
PathVerdict verify_paths(const RowLogits& root, const std::vector<std::vector<RowLogits>>& rows,
                         const std::vector<Tokens>& paths, Chance& chance,
                         ForcedAcceptance forced = {});

DecoderEntry lookahead_entry();

}  // namespace pardec
