// The table of filters, and the filters that apply other filters.
#include "src/jinja/filters.hpp"

#include <algorithm>
#include <array>

#include "src/jinja/filter_functions.hpp"
#include "src/jinja/members.hpp"
#include "src/jinja/syntax.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

namespace {

using filter::A;
using filter::member_of;
using filter::V;

Value length_of(V value, A arguments) {
  arguments.check(0, {});
  return length(value);
}

Value or_default(V value, A arguments) {
  arguments.check(2, {"default_value", "boolean"});
  const bool falls_back =
      value.undefined() || (arguments.get(1, "boolean", false).truth() && !value.truth());
  return falls_back ? arguments.get(0, "default_value", "") : value;
}

Value attr(V value, A arguments) {
  arguments.check(1, {"name"});
  const Value name = arguments.get(0, "name");
  if (!name.text()) throw Fault{str("attr takes a name, found ", name.type())};
  arguments.budget().take(value.breadth());
  return only_attribute(value, *name.text());
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

struct FilterEntry {
  std::string_view name;
  Value (*apply)(V, A);
  bool writes = false;  ///< builds a text from the whole value
};
constexpr std::array kFilters{
    FilterEntry{"abs", filter::absolute},
    FilterEntry{"attr", attr},
    FilterEntry{"batch", filter::batch},
    FilterEntry{"capitalize", filter::capitalize, true},
    FilterEntry{"center", filter::center, true},
    FilterEntry{"count", length_of},
    FilterEntry{"d", or_default},
    FilterEntry{"default", or_default},
    FilterEntry{"dictsort", filter::dictsort},
    FilterEntry{"e", filter::escape, true},
    FilterEntry{"escape", filter::escape, true},
    FilterEntry{"filesizeformat", filter::filesizeformat},
    FilterEntry{"first", filter::first},
    FilterEntry{"float", filter::to_real},
    FilterEntry{"forceescape", filter::force_escape, true},
    FilterEntry{"format", filter::format, true},
    FilterEntry{"groupby", filter::groupby},
    FilterEntry{"indent", filter::indent},
    FilterEntry{"int", filter::to_whole},
    FilterEntry{"items", filter::items},
    FilterEntry{"join", filter::join_items},
    FilterEntry{"last", filter::last},
    FilterEntry{"length", length_of},
    FilterEntry{"list", filter::as_list},
    FilterEntry{"lower", filter::lower, true},
    FilterEntry{"map", map_items},
    FilterEntry{"max", filter::greatest},
    FilterEntry{"min", filter::least},
    FilterEntry{"pprint", filter::pprint, true},
    FilterEntry{"reject", reject},
    FilterEntry{"rejectattr", rejectattr},
    FilterEntry{"replace", filter::replace, true},
    FilterEntry{"reverse", filter::reverse},
    FilterEntry{"round", filter::round},
    FilterEntry{"safe", filter::safe, true},
    FilterEntry{"select", select},
    FilterEntry{"selectattr", selectattr},
    FilterEntry{"slice", filter::slices},
    FilterEntry{"sort", filter::sort},
    FilterEntry{"string", filter::as_text, true},
    FilterEntry{"striptags", filter::striptags, true},
    FilterEntry{"sum", filter::sum},
    FilterEntry{"title", filter::title, true},
    FilterEntry{"tojson", filter::tojson},
    FilterEntry{"trim", filter::trim, true},
    FilterEntry{"truncate", filter::truncate, true},
    FilterEntry{"unique", filter::unique},
    FilterEntry{"upper", filter::upper, true},
    FilterEntry{"urlencode", filter::urlencode, true},
    FilterEntry{"wordcount", filter::wordcount, true},
    FilterEntry{"wordwrap", filter::wordwrap, true},
    FilterEntry{"xmlattr", filter::xmlattr, true},
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
