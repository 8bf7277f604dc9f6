#include "src/support/counters.hpp"

#include <set>

#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// Each number is different, from `first` on in steps of `step`.
Counters numbered(std::int64_t first, std::int64_t step) {
  Counters counters;
  for (const Counter& counter : kCounters)
    if (const auto* of = number(counter)) counters.*(*of) = first, first += step;
  return counters;
}

/// The numbers that differ from `expected` of the same numbers of `a` and `b`, by name.
template <typename Expected>
std::set<std::string> unlike(const Counters& sum, const Counters& a, const Counters& b,
                             Expected expected) {
  std::set<std::string> names;
  for (const Counter& counter : kCounters)
    if (const auto* of = number(counter); of && sum.*(*of) != expected(a.*(*of), b.*(*of)))
      names.emplace(counter.name);
  return names;
}

using Names = std::set<std::string>;

}  // namespace

TEST_CASE("each counter is in the table once, with unique names and columns") {
  std::set<std::string_view> names, columns;
  for (const Counter& counter : kCounters) {
    CAPTURE(counter.name);
    CHECK(names.insert(counter.name).second);
    CHECK((counter.column.empty() || columns.insert(counter.column).second));
    CHECK_FALSE(counter.unit.empty());
    CHECK_FALSE(counter.meaning.empty());
  }
  // Each row of the table counts a different number, and all of them are in JSON.
  const OrderedJson json = to_json(numbered(1, 1));
  std::set<std::int64_t> values;
  for (const Counter& counter : kCounters)
    if (number(counter)) values.insert(json.at(std::string(counter.name)).get<std::int64_t>());
  CHECK(values.size() == sizeof(Counts) / sizeof(std::int64_t));
}

TEST_CASE("for parallel sequences counts and peaks add up, and the longer time counts") {
  const Counters a = numbered(1000, 7), b = numbered(3000, -11);
  for (const auto& [one, two] : {std::pair(a, b), std::pair(b, a)}) {
    Counters sum = one;
    sum.add_beside(two);
    CHECK(
        unlike(sum, one, two, [](auto x, auto y) { return x + y; }) ==
        Names{"prefill_ns", "decode_ns", "total_ns", "first_token_ns", "draft_ns", "parallel_ns"});
    CHECK(sum.total_ns == std::max(a.total_ns, b.total_ns));
    CHECK(sum.first_token_ns == std::min(a.first_token_ns, b.first_token_ns));
  }
  Counters sum = a, silent = b;
  silent.first_token_ns = 0;  // gave no token
  sum.add_beside(silent);
  CHECK(sum.first_token_ns == a.first_token_ns);
  silent.add_beside(a);
  CHECK(silent.first_token_ns == a.first_token_ns);
}

TEST_CASE("for consecutive sequences counts and times add up, and the higher peak counts") {
  const Counters a = numbered(1000, 7), b = numbered(3000, -11);
  for (const auto& [one, two] : {std::pair(a, b), std::pair(b, a)}) {
    Counters sum = one;
    sum.add_after(two);
    CHECK(unlike(sum, one, two, [](auto x, auto y) { return x + y; }) ==
          Names{"first_token_ns", "cached_peak"});
    CHECK(sum.cached_peak == std::max(a.cached_peak, b.cached_peak));
    CHECK(sum.first_token_ns == one.first_token_ns);
  }
}

TEST_CASE("lists of branches are joined, lists by place and histograms add up") {
  Counters a, b;
  a.count_branch(3);
  a.count_branch(1);
  a.count_draft(2, 1);
  a.emitted = {{1, 2}, {2, 1}};
  b.count_branch(4);
  b.count_draft(3, 3);
  b.emitted = {{2, 5}};
  Counters beside = a, after = a;
  beside.add_beside(b);
  after.add_after(b);
  for (const Counters& sum : {beside, after}) {
    CHECK(sum.branches == 3);
    CHECK(sum.branch_lengths == std::vector<std::int64_t>{3, 1, 4});
    CHECK(sum.drafted == std::vector<std::int64_t>{2, 2, 1});
    CHECK(sum.accepted == std::vector<std::int64_t>{2, 1, 1});
    CHECK(sum.emitted == std::map<std::int64_t, std::int64_t>{{1, 2}, {2, 6}});
  }
}
