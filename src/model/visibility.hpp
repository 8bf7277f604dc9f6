#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pardec {

/// What attention needs to know of one fed token besides its id. `position` goes into the rotary
/// embedding; the other three decide who sees whom, and depend on the token, not on when it is fed.
struct RowLabel {
  std::int32_t position = 0;
  std::int32_t order = 0;
  std::int32_t segment = 0;
  std::int32_t rank = 0;
  bool operator==(const RowLabel&) const = default;
};

/// `sees[segment] -> set of segments` of one sequence. Segment 0 is there from the start and sees
/// itself.
class Segments {
 public:
  Segments() { add({}); }

  /// A new segment that sees itself and `sees`. Returns its number. What it sees is fixed from then
  /// on.
  int add(const std::vector<int>& sees);
  int count() const { return static_cast<int>(bits_.size()); }
  bool sees(int query, int key) const {
    const auto& row = bits_[static_cast<size_t>(query)];
    const size_t word = static_cast<size_t>(key) / 64;
    return word < row.size() && (row[word] >> (key % 64) & 1) != 0;
  }
  /// What a segment sees: bit s % 64 of word s / 64 stands for segment s; later ones it does not
  /// see.
  std::span<const std::uint64_t> seen_by(int query) const {
    return bits_[static_cast<size_t>(query)];
  }

 private:
  std::vector<std::vector<std::uint64_t>>
      bits_;  // one row a segment, as long as its highest bit needs
};

/// The visibility rule: query q sees key k iff segment(k) in sees[segment(q)], order(k) <= order(q)
/// and rank(k) <= rank(q). It says nothing of rows that are rejected or replaced: those are not
/// asked about.
inline bool visible(const RowLabel& q, const RowLabel& k, const Segments& segments) {
  return k.order <= q.order && k.rank <= q.rank && segments.sees(q.segment, k.segment);
}

}  // namespace pardec
