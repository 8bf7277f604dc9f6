#pragma once
#include <list>
#include <map>
#include <span>
#include <vector>

#include "decoders/decoder.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

struct LookaheadOptions {
  int W = 7;  ///< columns of the window: future positions guessed side by side
  int N = 5;  ///< length of an n-gram; the window keeps N - 1 past guesses of each column
  int G = 7;  ///< n-grams verified in one forward, at most
};

/// N-grams seen on the way, by their first token: the G newest of each.
class NgramPool {
 public:
  explicit NgramPool(int G) : G_(G) {}
  void add(const Tokens& ngram);
  /// What followed `first`, newest first.
  std::vector<Tokens> starting_with(Token first) const;

 private:
  int G_;
  std::map<Token, std::list<Tokens>> behind_;
};

/// What the network made of several paths of guesses that begin at one token.
struct PathVerdict {
  int path = 0;                 ///< a path that holds the accepted guesses
  int accepted = 0;             ///< its first so many
  std::vector<Choice> choices;  ///< [accepted + 1], as in Verdict
};

/// Goes down the paths as long as one of them agrees with the network: greedily, by its best;
/// sampling, guess by guess with probability p(guess), which is struck out of p when it fails
/// (Fu et al., Algorithm 4); forced, by a law.
///   root   the row of the token that the paths begin at
///   rows   [path][guess]
PathVerdict verify_paths(const RowLogits& root, const std::vector<std::vector<RowLogits>>& rows,
                         const std::vector<Tokens>& paths, Chance& chance,
                         ForcedAcceptance forced = {});

DecoderEntry lookahead_entry();

}  // namespace pardec
