#pragma once
#include <string>
#include <vector>

#include "decoders/aspd/layout.hpp"

namespace pardec::test {

// ASPD, written slowly from the paper: arXiv:2508.08895, section 3.2, Eq. 1 to 4, and the position
// schemes of section 4.5.3. Added is what these leave out: a token sees itself, and none that is
// computed later. It knows tokens by branch, stage and time, without order, segment or rank.

/// One answer by its lengths: serial, parallel, serial, ...
struct AspdCase {
  struct Block {
    int serial = 1;            ///< main tokens before it, <Para> included
    std::vector<int> lengths;  ///< L_k
    std::vector<int> prefix;   ///< forced tokens of each branch; for arrival_order only
  };
  std::vector<Block> blocks;
  int tail = 0;  ///< main tokens after the last block
  AspdPositions positions;
  bool shared = false;

  std::string text() const;
};

/// One token, in the terms of the paper.
struct AspdToken {
  int b = 0;           ///< branch index: 0 main, k = 1, 2, ... in the blocks
  int g = 0;           ///< stage number
  int r = 0;           ///< 0-based index inside its branch; of main tokens: inside its stage
  int t = 0;           ///< time at which it is decoded
  bool moved = false;  ///< Same-Re: the copy with a new position
  bool operator==(const AspdToken&) const = default;
};

/// Serial text, branch 1, branch 2, ..., serial text, as in training. Under Same-Re the moved
/// copies of a block come after it.
std::vector<AspdToken> flattened_order(const AspdCase& c);
/// In the order of the cache: with the independent mask, all prefixes of a block come first;
/// otherwise time by time. The moved copies of a block come after it.
std::vector<AspdToken> arrival_order(const AspdCase& c);

/// Eq. 4 and section 4.5.3.
int position(const AspdCase& c, const AspdToken& i);

/// Eq. 2 and 3: whether i sees j, both from all tokens that are ever computed. Under Same-Re, later
/// stages see moved tokens at their new place, and their own block sees them at the old one.
bool attends(const AspdCase& c, const AspdToken& i, const AspdToken& j);

}  // namespace pardec::test
