#include "src/jinja/filters.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "src/jinja/members.hpp"
#include "src/jinja/operators.hpp"
#include "src/jinja/python_text.hpp"
#include "src/jinja/syntax.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

namespace {

using V = const Value&;
using A = const Arguments&;

Value trim(V value, A arguments) {
  arguments.check(1, {"chars"});
  const Value characters = arguments.get(0, "chars", {});
  arguments.budget().take(value.weight(), characters.weight());
  return strip_text(to_text(value), true, true,
                    characters.is_none() ? std::nullopt : std::optional(to_text(characters)));
}

Value upper(V value, A arguments) {
  arguments.check(0, {});
  return upper_text(to_text(value));
}
Value lower(V value, A arguments) {
  arguments.check(0, {});
  return lower_text(to_text(value));
}
Value capitalize(V value, A arguments) {
  arguments.check(0, {});
  return capitalize_text(to_text(value));
}
Value title(V value, A arguments) {
  arguments.check(0, {});
  return title_text(to_text(value));
}
Value as_text(V value, A arguments) {
  arguments.check(0, {});
  return to_text(value);
}

Value tojson(V value, A arguments) {
  arguments.check(4, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = arguments.get(0, "ensure_ascii", false).truth();
  style.sort_keys = arguments.get(3, "sort_keys", false).truth();
  const Value indent = arguments.get(1, "indent", {});
  if (!indent.is_none()) {
    style.pretty = true;
    style.item_separator = ",";
    style.indent = indent.text() ? *indent.text()
                                 : std::string(static_cast<size_t>(std::clamp<std::int64_t>(
                                                   indent.whole("indent"), 0, 1000)),
                                               ' ');
  }
  if (const Value separators = arguments.get(2, "separators", {}); !separators.is_none()) {
    const Values parts = iterate(separators, arguments.budget());
    if (parts.size() != 2 || !parts[0].text() || !parts[1].text())
      throw Fault{"tojson: 'separators' is no pair of texts"};
    style.item_separator = *parts[0].text();
    style.key_separator = *parts[1].text();
  }
  arguments.budget().take(value.weight(), text_steps(style.item_separator.size()) +
                                              text_steps(style.key_separator.size()) +
                                              value.depth() * text_steps(style.indent.size()));
  return to_json_text(value, style);
}

Value length_of(V value, A arguments) {
  arguments.check(0, {});
  return length(value);
}

/// attribute_path, whose steps are taken before.
Value member_of(V value, V path, A arguments, const Value& fallback = {}) {
  arguments.budget().take(value.breadth(), path.weight());
  return attribute_path(value, path, fallback);
}

Value join_items(V value, A arguments) {
  arguments.check(2, {"d", "attribute"});
  const Value path = arguments.get(1, "attribute", {});
  const std::string between = to_text(arguments.get(0, "d", ""));
  const Values items = iterate(value, arguments.budget());
  arguments.budget().take(std::ssize(items), text_steps(between.size()));
  std::vector<std::string> parts;
  for (const Value& one : items) {
    const Value part = path.is_none() ? one : member_of(one, path, arguments);
    arguments.budget().take(part.weight());
    parts.push_back(to_text(part));
  }
  return join(parts, between);
}

Value or_default(V value, A arguments) {
  arguments.check(2, {"default_value", "boolean"});
  const bool falls_back =
      value.undefined() || (arguments.get(1, "boolean", false).truth() && !value.truth());
  return falls_back ? arguments.get(0, "default_value", "") : value;
}

Arguments without_first(const Arguments& arguments, size_t count, const std::string& callee) {
  const Values& all = arguments.positional();
  return Arguments(arguments.budget(), callee,
                   Values(all.begin() + static_cast<std::ptrdiff_t>(count), all.end()),
                   arguments.named());
}

/// select, reject, selectattr, rejectattr.
Value choose(V value, A arguments, bool wanted, bool by_attribute) {
  const size_t first = by_attribute ? 1 : 0;
  const Values& given = arguments.positional();
  if (given.size() < first) throw Fault{"the attribute's name is missing"};
  std::string test;
  if (given.size() > first) {
    test = to_text(given[first]);
    if (!is_test(test))
      throw Fault{str("test '", test, "' is not supported", known_names(test, test_names()))};
  }
  Values chosen;
  for (const Value& one : value.truth() ? iterate(value, arguments.budget()) : Values{}) {
    const Value of = by_attribute ? member_of(one, given[0], arguments) : one;
    arguments.budget().take(1 + std::ssize(given));
    const bool passes =
        test.empty() ? of.truth() : apply_test(test, of, without_first(arguments, first + 1, test));
    if (passes == wanted) chosen.push_back(one);
  }
  return make_sequence(std::move(chosen), Sequence::Kind::generator);
}
Value select(V value, A arguments) { return choose(value, arguments, true, false); }
Value reject(V value, A arguments) { return choose(value, arguments, false, false); }
Value selectattr(V value, A arguments) { return choose(value, arguments, true, true); }
Value rejectattr(V value, A arguments) { return choose(value, arguments, false, true); }

Value map_items(V value, A arguments) {
  Values mapped;
  const Values items = value.truth() ? iterate(value, arguments.budget()) : Values{};
  if (arguments.positional().empty()) {
    arguments.check(0, {"attribute", "default"});
    const Value path = arguments.get(0, "attribute"), fallback = arguments.get(1, "default", {});
    for (const Value& one : items) mapped.push_back(member_of(one, path, arguments, fallback));
  } else {
    const std::string filter = to_text(arguments.positional().front());
    if (!is_filter(filter))
      throw Fault{
          str("filter '", filter, "' is not supported", known_names(filter, filter_names()))};
    const Arguments rest = without_first(arguments, 1, filter);
    for (const Value& one : items) mapped.push_back(apply_filter(filter, one, rest));
  }
  return make_sequence(std::move(mapped), Sequence::Kind::generator);
}

Value as_list(V value, A arguments) {
  arguments.check(0, {});
  return make_sequence(iterate(value, arguments.budget()));
}

Value first(V value, A arguments) {
  arguments.check(0, {});
  if (auto* sequence = value.sequence(); sequence && !sequence->has_length()) {
    arguments.budget().take(value.breadth());
    if (sequence->values.empty()) return Undefined{"the first item of nothing"};
    const Value front = sequence->values.front();
    sequence->values.erase(sequence->values.begin());
    return front;
  }
  const Values items = iterate(value, arguments.budget());
  return items.empty() ? Value(Undefined{"the first item of nothing"}) : items.front();
}

Value last(V value, A arguments) {
  arguments.check(0, {});
  if (value.sequence() && !value.sequence()->has_length())
    throw Fault{"a generator cannot be gone through from its end; '|list' makes a list of it"};
  const Values items = iterate(value, arguments.budget());
  return items.empty() ? Value(Undefined{"the last item of nothing"}) : items.back();
}

Value reverse(V value, A arguments) {
  arguments.check(0, {});
  Values items = iterate(value, arguments.budget());
  std::reverse(items.begin(), items.end());
  if (value.text()) {
    std::string text;
    for (const Value& character : items) text += *character.text();
    return text;
  }
  const bool was_generator = value.sequence() && !value.sequence()->has_length();
  return make_sequence(std::move(items),
                       was_generator ? Sequence::Kind::list : Sequence::Kind::generator);
}

void refuse_undefined(V value) {
  if (value.undefined()) throw Fault{str("'", value.undefined()->name, "' is undefined")};
}

Value to_whole(V value, A arguments) {
  refuse_undefined(value);
  arguments.check(1, {"default"});
  const Value fallback = arguments.get(0, "default", 0);
  std::optional<double> real;
  if (value.integer() || value.boolean()) return value.whole("a number");
  if (value.real()) real = *value.real();
  if (value.text()) {
    if (const auto whole = parse_whole(*value.text())) return *whole;
    real = parse_real(*value.text());
  }
  if (!real || !std::isfinite(*real)) return fallback;
  if (std::abs(*real) >= 9.2e18)
    throw Fault{"an integer is larger than 64 bits, which is not supported"};
  return static_cast<std::int64_t>(std::trunc(*real));
}

Value to_real(V value, A arguments) {
  refuse_undefined(value);
  arguments.check(1, {"default"});
  if (value.is_number()) return value.as_real();
  const auto real = value.text() ? parse_real(*value.text()) : std::nullopt;
  return real ? Value(*real) : arguments.get(0, "default", 0.0);
}

Value absolute(V value, A arguments) {
  arguments.check(0, {});
  if (value.real()) return std::abs(*value.real());
  const std::int64_t whole = value.whole("abs");
  return whole < 0 ? negate(whole) : Value(whole);
}

Value replace(V value, A arguments) {
  arguments.check(3, {"old", "new", "count"});
  const Value count = arguments.get(2, "count", {});
  return replace_within(arguments.budget(), to_text(value), to_text(arguments.get(0, "old")),
                        to_text(arguments.get(1, "new")),
                        count.is_none() ? -1 : count.whole("count"));
}

Value items(V value, A arguments) {
  arguments.check(0, {});
  Values pairs;
  if (!value.undefined()) {
    if (!value.dict()) throw Fault{str("items takes a dict, found ", value.type())};
    for (const auto& [key, one] : value.dict()->entries)
      pairs.push_back(make_sequence({key, one}, Sequence::Kind::tuple));
  }
  return make_sequence(std::move(pairs), Sequence::Kind::generator);
}

/// What texts are sorted by: themselves, or in lower case.
Value sort_key(V value, bool case_sensitive) {
  return value.text() && !case_sensitive ? Value(lower_text(*value.text())) : value;
}

/// Stable; where it goes down, equals keep their order, as with Python.
void sort_by(Values& values, const std::function<Value(V)>& key, bool down, A arguments) {
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& value : values) {
    keyed.emplace_back(key(value), value);
    // Each is compared about as often as halves lie one inside the other.
    arguments.budget().take(2 * std::bit_width(values.size()), keyed.back().first.weight());
  }
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    return down ? less(b.first, a.first) : less(a.first, b.first);
  });
  for (size_t i = 0; i < values.size(); ++i) values[i] = keyed[i].second;
}

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
  if (path.text() && path.text()->find(',') != std::string::npos)
    throw Fault{"sort by several attributes is not supported"};
  Values all = iterate(value, arguments.budget());
  // In lists, which have an order also where their equal items have none.
  sort_by(
      all,
      [&](V one) {
        return make_sequence(
            {sort_key(path.is_none() ? one : member_of(one, path, arguments), cases)});
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
    const Value key = sort_key(path.is_none() ? one : member_of(one, path, arguments), cases);
    arguments.budget().take(1 + std::ssize(seen.entries), key.weight());
    if (seen.find(key)) continue;
    seen.set(key, true);
    kept.push_back(one);
  }
  return make_sequence(std::move(kept), Sequence::Kind::generator);
}

Value indent(V value, A arguments) {
  arguments.check(3, {"width", "first", "blank"});
  if (!value.text()) throw Fault{str("indent takes a text, found ", value.type())};
  const Value width = arguments.get(0, "width", 4);
  const std::string margin =
      width.text()
          ? *width.text()
          : std::string(
                static_cast<size_t>(std::clamp<std::int64_t>(width.whole("width"), 0, 1000)), ' ');
  const bool blank = arguments.get(2, "blank", false).truth();
  std::string out;
  arguments.budget().take(std::ssize(*value.text()));
  const auto lines = split_lines(*value.text() + "\n");
  arguments.budget().take(std::ssize(lines), text_steps(margin.size()));
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += "\n" + (blank || !lines[i].empty() ? margin : "");
    out += lines[i];
  }
  return arguments.get(1, "first", false).truth() ? margin + out : out;
}

Value misplaced_safe(V, A) {
  throw Fault{"filter 'safe' is supported at the end of an output alone"};
}

struct FilterEntry {
  std::string_view name;
  Value (*apply)(V, A);
  bool writes = false;  ///< makes a text of all that the value holds
};
constexpr std::array kFilters{
    FilterEntry{"abs", absolute},
    FilterEntry{"capitalize", capitalize, true},
    FilterEntry{"count", length_of},
    FilterEntry{"d", or_default},
    FilterEntry{"default", or_default},
    FilterEntry{"dictsort", dictsort},
    FilterEntry{"first", first},
    FilterEntry{"float", to_real},
    FilterEntry{"indent", indent},
    FilterEntry{"int", to_whole},
    FilterEntry{"items", items},
    FilterEntry{"join", join_items},
    FilterEntry{"last", last},
    FilterEntry{"length", length_of},
    FilterEntry{"list", as_list},
    FilterEntry{"lower", lower, true},
    FilterEntry{"map", map_items},
    FilterEntry{"reject", reject},
    FilterEntry{"rejectattr", rejectattr},
    FilterEntry{"replace", replace, true},
    FilterEntry{"reverse", reverse},
    FilterEntry{"safe", misplaced_safe},
    FilterEntry{"select", select},
    FilterEntry{"selectattr", selectattr},
    FilterEntry{"sort", sort},
    FilterEntry{"string", as_text, true},
    FilterEntry{"title", title, true},
    FilterEntry{"tojson", tojson},
    FilterEntry{"trim", trim, true},
    FilterEntry{"unique", unique},
    FilterEntry{"upper", upper, true},
};

}  // namespace

bool is_filter(std::string_view name) {
  return std::any_of(kFilters.begin(), kFilters.end(),
                     [&](const FilterEntry& entry) { return entry.name == name; });
}

std::vector<std::string> filter_names() {
  std::vector<std::string> names;
  for (const FilterEntry& entry : kFilters) names.emplace_back(entry.name);
  return names;
}

Value apply_filter(const std::string& name, const Value& value, const Arguments& arguments) {
  for (const FilterEntry& entry : kFilters) {
    if (entry.name != name) continue;
    Budget& budget = arguments.budget();
    if (entry.writes) budget.take(value.weight());
    for (const Value& argument : arguments.positional()) budget.take(argument.breadth());
    for (const auto& [key, argument] : arguments.named()) budget.take(argument.breadth());
    Value made = entry.apply(value, arguments);
    budget.take(made.breadth());
    return made;
  }
  throw Fault{str("filter '", name, "' is not supported", known_names(name, filter_names()))};
}

}  // namespace pardec::jinja
