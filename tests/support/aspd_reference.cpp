#include "tests/support/aspd_reference.hpp"

#include <algorithm>

#include "src/support/text.hpp"

namespace pardec::test {

namespace {

/// P_t: tokens decoded at time t; moved copies do not count.
int decoded_at(const AspdCase& c, int t) {
  int count = 0;
  for (const AspdToken& token : flattened_order(c)) count += !token.moved && token.t == t;
  return count;
}

/// The block of parallel stage g: stages 0, 2, ... are serial, 1, 3, ... parallel.
const AspdCase::Block& block_of(const AspdCase& c, int g) {
  return c.blocks[static_cast<size_t>(g / 2)];
}

int longest(const AspdCase::Block& block) {
  return *std::max_element(block.lengths.begin(), block.lengths.end());
}

/// The first token of stage g; in a serial stage it belongs to the main branch.
AspdToken first_of(const AspdCase& c, int g) {
  for (const AspdToken& token : flattened_order(c))
    if (token.g == g && !token.moved) return token;
  return {};
}

/// s_g: position of the first token of stage g.
int start(const AspdCase& c, int g) {
  if (g == 0) return 0;
  const AspdCase::Block& block = block_of(c, g % 2 ? g : g - 1);
  if (g % 2 == 1) return start(c, g - 1) + block.serial;
  switch (c.positions.scheme) {
    case AspdScheme::same_seq:
    case AspdScheme::same_re: {
      int before = 0;  // Eq. 4: sum of P_t over t < t(i)
      for (int t = 0; t < first_of(c, g).t; ++t) before += decoded_at(c, t);
      return before;
    }
    case AspdScheme::same_max:
      return start(c, g - 1) + longest(block);
    case AspdScheme::fix:
      return start(c, g - 1) + static_cast<int>(block.lengths.size()) * c.positions.n;
  }
  return -1;
}

}  // namespace

std::string AspdCase::text() const {
  std::string out = str("scheme ", static_cast<int>(positions.scheme), " N ", positions.n,
                        shared ? " shared" : " independent", ":");
  for (const Block& block : blocks) {
    out += str(" ", block.serial, " (");
    for (const int length : block.lengths) out += str(" ", length);
    out += " )";
  }
  return out + str(" ", tail);
}

std::vector<AspdToken> flattened_order(const AspdCase& c) {
  std::vector<AspdToken> tokens;
  int t = 0, g = 0;
  for (const AspdCase::Block& block : c.blocks) {
    for (int r = 0; r < block.serial; ++r) tokens.push_back({0, g, r, t++});
    ++g;
    for (const bool moved : {false, true}) {
      if (moved && c.positions.scheme != AspdScheme::same_re) continue;
      for (int k = 1; k <= static_cast<int>(block.lengths.size()); ++k)
        for (int r = 0; r < block.lengths[static_cast<size_t>(k) - 1]; ++r)
          tokens.push_back({k, g, r, t + r, moved});
    }
    t += longest(block);
    ++g;
  }
  for (int r = 0; r < c.tail; ++r) tokens.push_back({0, g, r, t++});
  return tokens;
}

std::vector<AspdToken> arrival_order(const AspdCase& c) {
  std::vector<AspdToken> order, flat = flattened_order(c);
  /// The forward pass of its block in which a token is computed: the prefix in one pass, then one
  /// token in each.
  const auto pass = [&](const AspdToken& token) {
    if (c.shared) return token.r;
    const int prefix = block_of(c, token.g).prefix[static_cast<size_t>(token.b) - 1];
    return std::max(0, token.r - prefix + 1);
  };
  for (int g = 0; g <= 2 * static_cast<int>(c.blocks.size()); ++g) {
    std::vector<AspdToken> stage;
    for (const AspdToken& token : flat)
      if (token.g == g) stage.push_back(token);
    if (g % 2)
      std::stable_sort(stage.begin(), stage.end(), [&](const AspdToken& a, const AspdToken& b) {
        if (a.moved != b.moved) return b.moved;
        return !a.moved && pass(a) < pass(b);
      });
    order.insert(order.end(), stage.begin(), stage.end());
  }
  return order;
}

int position(const AspdCase& c, const AspdToken& i) {
  int s = start(c, i.g);
  if (i.b > 0 && c.positions.scheme == AspdScheme::fix) s += (i.b - 1) * c.positions.n;
  if (i.moved)
    for (int m = 1; m < i.b; ++m) s += block_of(c, i.g).lengths[static_cast<size_t>(m) - 1];
  return s + i.r;
}

bool attends(const AspdCase& c, const AspdToken& i, const AspdToken& j) {
  if (i == j) return true;         // the diagonal
  if (!(j.t < i.t)) return false;  // the rule of time
  if (c.positions.scheme == AspdScheme::same_re && j.b > 0) {
    if (i.g != j.g) return j.moved;        // later stages see the new place
    if (i.moved != j.moved) return false;  // one place does not see the other
    if (i.moved) return i.b == j.b;        // computed again with the independent mask
  }
  if (c.shared) return true;
  return i.b == 0 || i.g != j.g || i.b == j.b;  // Eq. 3
}

}  // namespace pardec::test
