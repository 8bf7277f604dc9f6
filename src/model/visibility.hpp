#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pardec {

/// The label of a row: what attention needs to know about a token besides its id. `position`
/// determines the rotary embedding, and which rows a sliding window hides. The other three numbers
/// determine visibility (see `visible`). The label does not depend on the pass in which the row is
/// computed. decoders/visibility.md explains the four numbers.
struct RowLabel {
  std::int32_t position = 0;
  std::int32_t order = 0;
  std::int32_t segment = 0;
  std::int32_t rank = 0;
  bool operator==(const RowLabel&) const = default;
};

/// The segments of one sequence, and for each segment the set of segments that it sees. Segment 0
/// always exists and sees itself.
class Segments {
 public:
  Segments() { add({}); }

  /// Adds a segment that sees itself and the segments in `sees`, and returns its number. The set
  /// cannot change later. REQUIRES: the segments in `sees` exist; otherwise std::logic_error.
  int add(const std::vector<int>& sees);
  /// Number of segments.
  int count() const { return static_cast<int>(bits_.size()); }
  /// Whether segment `query` sees segment `key`. REQUIRES: `query` exists.
  bool sees(int query, int key) const {
    const auto& row = bits_[static_cast<size_t>(query)];
    const size_t word = static_cast<size_t>(key) / 64;
    return word < row.size() && (row[word] >> (key % 64) & 1) != 0;
  }
  /// The segments that `query` sees: bit s % 64 of word s / 64 is segment s. Segments beyond the
  /// last word are not seen. REQUIRES: `query` exists. The result is valid until `add` is called.
  std::span<const std::uint64_t> seen_by(int query) const {
    return bits_[static_cast<size_t>(query)];
  }

 private:
  // one vector per segment; its length depends on the highest segment that it sees
  std::vector<std::vector<std::uint64_t>> bits_;
};

/// The visibility rule: query q sees key k iff q's segment sees k's segment, k.order <= q.order,
/// and k.rank <= q.rank. Callers leave out dropped rows before they apply the rule.
inline bool visible(const RowLabel& q, const RowLabel& k, const Segments& segments) {
  return k.order <= q.order && k.rank <= q.rank && segments.sees(q.segment, k.segment);
}

}  // namespace pardec
