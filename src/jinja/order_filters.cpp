// Filters that depend on the order of items.
#include <algorithm>
#include <bit>

#include "src/jinja/filter_functions.hpp"
#include "src/jinja/operators.hpp"
#include "src/jinja/python_text.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja::filter {

namespace {

/// The sort key of a text: itself, or its lower case.
Value sort_key(V value, bool case_sensitive) {
  if (case_sensitive || !(value.text() || value.marked())) return value;
  const std::string lower = lower_text(to_text(value));
  return value.marked() ? make_marked(lower) : Value(lower);
}

/// Stable; in descending order, equal items keep their order, as in Python.
void sort_by(Values& values, const std::function<Value(V)>& key, bool down, A arguments) {
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& value : values) {
    keyed.emplace_back(key(value), value);
    // Each item takes part in about log2(n) comparisons.
    arguments.budget().take(2 * std::bit_width(values.size()), keyed.back().first.weight());
  }
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    return down ? less(b.first, a.first) : less(a.first, b.first);
  });
  for (size_t i = 0; i < values.size(); ++i) values[i] = keyed[i].second;
}

}  // namespace

Value dictsort(V value, A arguments) {
  arguments.check(3, {"case_sensitive", "by", "reverse"});
  const bool cases = arguments.get(0, "case_sensitive", false).truth();
  const std::string by = to_text(arguments.get(1, "by", "key"));
  if (by != "key" && by != "value")
    throw Fault{str("dictsort by '", by, "', expected 'key' or 'value'")};
  if (!value.dict()) throw Fault{str("dictsort takes a dict, found ", value.type())};
  Values pairs;
  for (const auto& [key, one] : value.dict()->entries)
    pairs.push_back(make_sequence({key, one}, Sequence::Kind::tuple));
  const size_t part = by == "key" ? 0 : 1;
  sort_by(
      pairs, [&](V pair) { return sort_key(pair.sequence()->values[part], cases); },
      arguments.get(2, "reverse", false).truth(), arguments);
  return make_sequence(std::move(pairs));
}

Value sort(V value, A arguments) {
  arguments.check(3, {"reverse", "case_sensitive", "attribute"});
  const bool cases = arguments.get(1, "case_sensitive", false).truth();
  const Value path = arguments.get(2, "attribute", {});
  Values all = iterate(value, arguments.budget()), paths = {path};
  if (path.text()) {
    paths.clear();
    for (std::string& one : split(*path.text(), ',')) paths.emplace_back(std::move(one));
  }
  // Lists as keys: they have an order even where their equal items have none.
  sort_by(
      all,
      [&](V one) {
        Values keys;
        for (const Value& each : paths)
          keys.push_back(sort_key(member_of(one, each, arguments), cases));
        return make_sequence(std::move(keys));
      },
      arguments.get(0, "reverse", false).truth(), arguments);
  return make_sequence(std::move(all));
}

Value unique(V value, A arguments) {
  arguments.check(2, {"case_sensitive", "attribute"});
  const bool cases = arguments.get(0, "case_sensitive", false).truth();
  const Value path = arguments.get(1, "attribute", {});
  Dict seen;
  Values kept;
  for (const Value& one : iterate(value, arguments.budget())) {
    const Value key = sort_key(member_of(one, path, arguments), cases);
    arguments.budget().take(1 + std::ssize(seen.entries), key.weight());
    if (seen.find(key)) continue;
    seen.set(key, true);
    kept.push_back(one);
  }
  return make_sequence(std::move(kept), Sequence::Kind::generator);
}

namespace {

/// The first item that no other item is `before`.
Value first_by(V value, A arguments, bool (*before)(V, V)) {
  arguments.check(2, {"case_sensitive", "attribute"});
  const bool cases = arguments.get(0, "case_sensitive", false).truth();
  const Value path = arguments.get(1, "attribute", {});
  std::optional<Value> best_key;
  Value best = Undefined{"the greatest or least item of nothing"};
  for (const Value& one : iterate(value, arguments.budget())) {
    Value key = sort_key(member_of(one, path, arguments), cases);
    arguments.budget().take(key.weight());
    if (best_key && !before(key, *best_key)) continue;
    best_key = std::move(key);
    best = one;
  }
  return best;
}

}  // namespace

Value least(V value, A arguments) { return first_by(value, arguments, less); }
Value greatest(V value, A arguments) {
  return first_by(value, arguments, [](V a, V b) { return less(b, a); });
}

Value groupby(V value, A arguments) {
  arguments.check(3, {"attribute", "default", "case_sensitive"});
  const Value path = arguments.get(0, "attribute"), fallback = arguments.get(1, "default", {});
  const bool cases = arguments.get(2, "case_sensitive", false).truth();
  const auto own = [&](V one) { return member_of(one, path, arguments, fallback); };
  const auto key = [&](V one) { return sort_key(own(one), cases); };
  Values all = iterate(value, arguments.budget());
  sort_by(all, key, false, arguments);
  Values groups;
  for (auto begin = all.begin(); begin != all.end();) {
    const Value shared = key(*begin);
    const auto end = std::find_if(begin, all.end(), [&](V one) {
      const Value other = key(one);
      arguments.budget().take(comparison_steps(other, shared));
      return !equal(other, shared);
    });
    Value group =
        make_sequence({own(*begin), make_sequence(Values(begin, end))}, Sequence::Kind::tuple);
    group.sequence()->is_group = true;
    groups.push_back(std::move(group));
    begin = end == begin ? end + 1 : end;  // an item that is not equal to itself
  }
  return make_sequence(std::move(groups));
}

}  // namespace pardec::jinja::filter
