#pragma once
#include <string>
#include <vector>

#include "decoders/aspd/layout.hpp"

namespace pardec::test {

// ASPD written slowly from the paper: arXiv:2508.08895, section 3.2, Eq. 1 to 4, and the position
// schemes of section 4.5.3, with what they leave out: a token sees itself, and none fed later. It
// knows tokens by branch, stage and time, and nothing of order, segment or rank.

/// One answer by its lengths: serial, parallel, serial, ...
struct AspdCase {
  struct Block {
    int serial = 1;            ///< main tokens before it, <Para> included
    std::vector<int> lengths;  ///< L_k
    std::vector<int> prefix;   ///< forced tokens of each branch; for arrival_order only
  };
  std::vector<Block> blocks;
  int tail = 0;  ///< main tokens behind the last block
  AspdPositions positions;
  bool shared = false;

  std::string text() const;
};

/// One token, as the paper speaks of it.
struct AspdToken {
  int b = 0;           ///< branch index: 0 main, k = 1, 2, ... in the blocks
  int g = 0;           ///< stage number
  int r = 0;           ///< 0-based index inside its branch; of main tokens: inside its stage
  int t = 0;           ///< time at which it is decoded
  bool moved = false;  ///< Same-Re: the copy with a new position
  bool operator==(const AspdToken&) const = default;
};

/// Serial text, branch 1, branch 2, ..., serial text: as training has it. Under Same-Re the moved
/// copies of a block stand behind it.
std::vector<AspdToken> flattened_order(const AspdCase& c);
/// As they come into the cache: with the independent mask a block's prefixes stand together, else
/// time by time; the moved copies of a block behind it.
std::vector<AspdToken> arrival_order(const AspdCase& c);

/// Eq. 4 and section 4.5.3.
int position(const AspdCase& c, const AspdToken& i);

/// Eq. 2 and 3: whether i sees j, both taken from everything that is ever fed. Under Same-Re, what
/// was moved is seen at its new place by later stages, and at its old one by its own block.
bool attends(const AspdCase& c, const AspdToken& i, const AspdToken& j);

}  // namespace pardec::test
