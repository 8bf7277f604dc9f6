// The tests of the template language: `value is name`.
#include <algorithm>
#include <array>

#include "src/jinja/filters.hpp"
#include "src/jinja/operators.hpp"
#include "src/jinja/python_text.hpp"
#include "src/jinja/syntax.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

namespace {

using V = const Value&;

/// Whether `value % by` equals `rest`.
bool rest_is(V value, V by, int rest) { return equal(arithmetic("%", value, by), rest); }

/// Whether both are the same object in Python. Fault: this depends on how Python stores texts and
/// numbers.
bool is_same(V a, V b) {
  if (a.is_none() || b.is_none() || a.boolean() || b.boolean())
    return a.type() == b.type() && equal(a, b);
  if (a.type() != b.type()) return false;
  if (a.sequence() && a.sequence() == b.sequence()) return true;
  const bool is_tuple = a.sequence() && a.sequence()->kind == Sequence::Kind::tuple;
  if (!a.is_number() && !a.text() && !a.marked() && !a.undefined() && !is_tuple)
    return a.dict() ? a.dict() == b.dict() : !a.sequence() && equal(a, b);
  if (!equal(a, b)) return false;
  if (a.integer() && *a.integer() >= -5 && *a.integer() <= 256) return true;
  throw Fault{str("sameas of equal values of type ", a.type(), " is not supported")};
}

/// Includes filters that are not supported.
bool is_known_filter(std::string_view name) {
  return is_filter(name) || name == "random" || name == "urlize";
}
bool names_one(V value, bool (*is_one)(std::string_view)) {
  check_hashable(value);
  return (value.text() || value.marked()) && is_one(to_text(value));
}

struct TestEntry {
  std::string_view name;
  bool (*passes)(V value, V other);  ///< `other` is the argument, or None
  bool takes_argument = false;
};
constexpr std::array kTests{
    TestEntry{"!=", [](V a, V b) { return !equal(a, b); }, true},
    TestEntry{"<", [](V a, V b) { return compare("<", a, b); }, true},
    TestEntry{"<=", [](V a, V b) { return compare("<=", a, b); }, true},
    TestEntry{"==", [](V a, V b) { return equal(a, b); }, true},
    TestEntry{">", [](V a, V b) { return compare(">", a, b); }, true},
    TestEntry{">=", [](V a, V b) { return compare(">=", a, b); }, true},
    TestEntry{"boolean", [](V a, V) { return a.boolean() != nullptr; }},
    TestEntry{"callable", [](V a, V) { return a.callable() || a.loop() || a.undefined(); }},
    TestEntry{"defined", [](V a, V) { return !a.undefined(); }},
    TestEntry{"divisibleby", [](V a, V b) { return rest_is(a, b, 0); }, true},
    TestEntry{"eq", [](V a, V b) { return equal(a, b); }, true},
    TestEntry{"equalto", [](V a, V b) { return equal(a, b); }, true},
    TestEntry{"escaped", [](V a, V) { return a.marked() != nullptr; }},
    TestEntry{"even", [](V a, V) { return rest_is(a, 2, 0); }},
    TestEntry{"false", [](V a, V) { return a.boolean() && !*a.boolean(); }},
    TestEntry{"filter", [](V a, V) { return names_one(a, is_known_filter); }},
    TestEntry{"float", [](V a, V) { return a.real() != nullptr; }},
    TestEntry{"ge", [](V a, V b) { return compare(">=", a, b); }, true},
    TestEntry{"greaterthan", [](V a, V b) { return compare(">", a, b); }, true},
    TestEntry{"gt", [](V a, V b) { return compare(">", a, b); }, true},
    TestEntry{"in", [](V a, V b) { return holds(b, a); }, true},
    TestEntry{"integer", [](V a, V) { return a.integer() != nullptr; }},
    TestEntry{"iterable", [](V a, V) { return is_iterable(a) || a.loop(); }},
    TestEntry{"le", [](V a, V b) { return compare("<=", a, b); }, true},
    TestEntry{"lessthan", [](V a, V b) { return compare("<", a, b); }, true},
    TestEntry{"lower", [](V a, V) { return has_only(to_text(a), Case::lower); }},
    TestEntry{"lt", [](V a, V b) { return compare("<", a, b); }, true},
    TestEntry{"mapping", [](V a, V) { return a.dict() != nullptr; }},
    TestEntry{"ne", [](V a, V b) { return !equal(a, b); }, true},
    TestEntry{"none", [](V a, V) { return a.is_none(); }},
    TestEntry{"number", [](V a, V) { return a.is_number(); }},
    TestEntry{"odd", [](V a, V) { return rest_is(a, 2, 1); }},
    TestEntry{"sameas", is_same, true},
    TestEntry{"sequence",
              [](V a, V) {
                return a.text() || a.marked() || a.dict() || a.undefined() ||
                       (a.sequence() && a.sequence()->has_index());
              }},
    TestEntry{"string", [](V a, V) { return a.text() || a.marked(); }},
    TestEntry{"test", [](V a, V) { return names_one(a, is_test); }},
    TestEntry{"true", [](V a, V) { return a.boolean() && *a.boolean(); }},
    TestEntry{"undefined", [](V a, V) { return a.undefined() != nullptr; }},
    TestEntry{"upper", [](V a, V) { return has_only(to_text(a), Case::upper); }},
};

}  // namespace

bool is_test(std::string_view name) {
  return std::any_of(kTests.begin(), kTests.end(),
                     [&](const TestEntry& entry) { return entry.name == name; });
}

std::vector<std::string> test_names() {
  std::vector<std::string> names;
  for (const TestEntry& entry : kTests) names.emplace_back(entry.name);
  return names;
}

bool apply_test(const std::string& name, const Value& value, const Arguments& arguments) {
  for (const TestEntry& entry : kTests) {
    if (entry.name != name) continue;
    arguments.check(entry.takes_argument ? 1 : 0, {});
    if (entry.name == "lower" || entry.name == "upper") arguments.budget().take(value.weight());
    if (entry.takes_argument)
      arguments.budget().take(comparison_steps(value, arguments.get(0, "other")));
    return entry.passes(value, entry.takes_argument ? arguments.get(0, "other") : Value());
  }
  throw Fault{str("test '", name, "' is not supported", known_names(name, test_names()))};
}

}  // namespace pardec::jinja
