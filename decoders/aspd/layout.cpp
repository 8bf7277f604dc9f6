#include "decoders/aspd/layout.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "decoders/options.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string name(const AspdPositions& positions) {
  switch (positions.scheme) {
    case AspdScheme::same_seq:
      return "same-seq";
    case AspdScheme::same_max:
      return "same-max";
    case AspdScheme::same_re:
      return "same-re";
    case AspdScheme::fix:
      return str("fix-", positions.n);
  }
  return "";
}

AspdPositions parse_aspd_positions(const std::string& text) {
  for (const AspdScheme scheme : {AspdScheme::same_seq, AspdScheme::same_max, AspdScheme::same_re})
    if (text == name({scheme, 0})) return {scheme, 0};
  if (text.starts_with("fix-"))
    if (const int n = number_in<int>(text.substr(4)).value_or(0); n > 0 && n <= kMostGap)
      return {AspdScheme::fix, n};
  throw ConfigError(str("aspd.positions is '", text,
                        "', expected same-seq, same-max, same-re or fix-N with N from 1 to ",
                        kMostGap, ", e.g. fix-32"));
}

AspdLayout::AspdLayout(const AspdPositions& positions, bool shared, AddSegment add_segment)
    : positions_(positions), shared_(shared), add_segment_(std::move(add_segment)) {}

RowLabel AspdLayout::label(int position, int t, int b, int segment) const {
  constexpr int kWide = kMostSharedBranches + 1;
  if (!shared_) return {.position = position, .order = t, .segment = segment, .rank = 0};
  return {.position = position,
          .order = kWide * t + b,
          .segment = segment,
          .rank = kWide * t + kMostSharedBranches - b};
}

RowLabel AspdLayout::main() { return label(position_++, t_++, 0, trunk_); }

void AspdLayout::open(int branches) {
  if (open_) throw std::logic_error("AspdLayout: a block is open already");
  if (branches < 1 || (shared_ && branches > kMostSharedBranches))
    throw std::logic_error("AspdLayout: no branch, or more than the shared mask can tell apart");
  open_ = true;
  s_ = position_;
  block_t_ = t_;
  earlier_.push_back(trunk_);
  if (shared_) {
    branches_.assign(static_cast<size_t>(branches), add_segment_(earlier_));
  } else {
    branches_.clear();
    for (int k = 0; k < branches; ++k) branches_.push_back(add_segment_(earlier_));
  }
}

RowLabel AspdLayout::branch(int k, int r) const {
  const int start = positions_.scheme == AspdScheme::fix ? s_ + k * positions_.n : s_;
  return label(start + r, block_t_ + r, k + 1, branches_[static_cast<size_t>(k)]);
}

void AspdLayout::close(const std::vector<int>& lengths) {
  if (!open_ || lengths.size() != branches_.size())
    throw std::logic_error("AspdLayout: a block is closed that is not open, or of other branches");
  open_ = false;
  const int longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  const int all = std::accumulate(lengths.begin(), lengths.end(), 0);
  t_ = block_t_ + longest;
  switch (positions_.scheme) {
    case AspdScheme::same_seq:
    case AspdScheme::same_re:
      position_ = s_ + all;
      break;
    case AspdScheme::same_max:
      position_ = s_ + longest;
      break;
    case AspdScheme::fix:
      position_ = s_ + static_cast<int>(lengths.size()) * positions_.n;
      break;
  }
  std::vector<int> seen_later = branches_;
  if (moves()) {
    copies_.clear();
    starts_.clear();
    int start = s_;
    for (const int length : lengths) {
      copies_.push_back(add_segment_(earlier_));
      starts_.push_back(start);
      start += length;
    }
    seen_later = copies_;
  }
  if (shared_ && !moves()) seen_later.resize(1);  // all branches share one segment
  earlier_.insert(earlier_.end(), seen_later.begin(), seen_later.end());
  trunk_ = add_segment_(earlier_);
}

RowLabel AspdLayout::copy(int k, int r) const {
  return label(starts_[static_cast<size_t>(k)] + r, block_t_ + r, k + 1,
               copies_[static_cast<size_t>(k)]);
}

}  // namespace pardec
