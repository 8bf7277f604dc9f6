#pragma once
#include <string>
#include <vector>

#include "decoders/aspd/layout.hpp"

namespace pardec::test {

// A slow reference of ASPD's masks and positions, written from the paper: arXiv:2508.08895, section
// 3.2, Eq. 1 to 4, and the position schemes of section 4.5.3. Two rules that the paper leaves out
// are added: a token sees itself, and no token that is computed later. Tokens are described by
// branch, stage and time, without order, segment or rank.

/// The lengths of the parts of an answer: serial text, block, serial text, ...
struct AspdCase {
  struct Block {
    int serial = 1;            ///< main branch's tokens before the block, with <Para>
    std::vector<int> lengths;  ///< L_k: number of tokens of each branch
    std::vector<int> prefix;   ///< inserted tokens per branch; only for arrival_order
  };
  std::vector<Block> blocks;
  int tail = 0;  ///< number of tokens of the main branch after the last block
  AspdPositions positions;
  bool shared = false;  ///< shared mask: branches of a block see each other

  std::string text() const;
};

/// A token, in the terms of the paper.
struct AspdToken {
  int b = 0;           ///< branch: 0 is the main branch; k = 1, 2, ... within a block
  int g = 0;           ///< number of the stage
  int r = 0;           ///< index within the branch, from 0; for the main branch, within the stage
  int t = 0;           ///< time at which it is decoded
  bool moved = false;  ///< Same-Re: whether this is the copy with a new position
  bool operator==(const AspdToken&) const = default;
};

/// The tokens in the order of training: serial text, branch 1, branch 2, ..., serial text. With
/// Same-Re, a block is followed by its copy.
std::vector<AspdToken> flattened_order(const AspdCase& c);
/// The tokens in the order in which decoding computes them: a block time by time; with the
/// independent mask, first the inserted prefixes of all branches. With Same-Re, a block is followed
/// by its copy.
std::vector<AspdToken> arrival_order(const AspdCase& c);

/// The position of a token (Eq. 4 and section 4.5.3).
int position(const AspdCase& c, const AspdToken& i);

/// Whether token i sees token j (Eq. 2 and 3). With Same-Re, later stages see the copy of a block,
/// and the block itself sees the original.
bool attends(const AspdCase& c, const AspdToken& i, const AspdToken& j);

}  // namespace pardec::test
