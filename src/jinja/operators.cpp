#include "src/jinja/operators.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/jinja/python_text.hpp"
#include "src/support/text.hpp"

namespace pardec::jinja {

namespace {

bool same_kind(const Sequence& a, const Sequence& b) { return a.kind == b.kind; }

bool both_numbers(const Value& a, const Value& b) { return a.is_number() && b.is_number(); }
bool any_real(const Value& a, const Value& b) { return a.real() || b.real(); }

/// -1, 0 or 1; 2 if one is NaN.
int order(const Value& a, const Value& b) {
  if (!any_real(a, b)) {
    const std::int64_t x = a.whole("a number"), y = b.whole("a number");
    return x < y ? -1 : x > y;
  }
  const double x = a.as_real(), y = b.as_real();
  return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
}

[[noreturn]] void no_operator(std::string_view op, const Value& a, const Value& b) {
  for (const Value* value : {&a, &b}) {
    const auto* view = value->sequence();  // a view is partly a set
    const bool is_view = view && view->has_length() && !view->has_index();
    if (is_view || value->marked())
      throw Fault{str("'", op, "' on ", value->type(), " is not supported")};
  }
  for (const Value* value : {&a, &b})
    if (value->undefined()) throw Fault{str("'", value->undefined()->name, "' is undefined")};
  throw Fault{str("'", op, "' does not take ", a.type(), " and ", b.type())};
}

[[noreturn]] void too_large() {
  throw Fault{"an integer is larger than 64 bits, which is not supported"};
}

Value repeated(const Value& value, std::int64_t times) {
  if (length(value) == 0) return value;
  if (const auto* text = value.text()) {
    std::string all;
    for (std::int64_t i = 0; i < times; ++i) all += *text;
    return all;
  }
  Values all;
  for (std::int64_t i = 0; i < times; ++i)
    all.insert(all.end(), value.sequence()->values.begin(), value.sequence()->values.end());
  return make_sequence(std::move(all), value.sequence()->kind);
}

bool is_list_or_tuple(const Value& value) {
  return value.sequence() && (value.sequence()->kind == Sequence::Kind::list ||
                              value.sequence()->kind == Sequence::Kind::tuple);
}

double real_modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest != 0 ? rest : std::copysign(0.0, b);
}

/// As CPython's float_floor_div.
double real_floor(double a, double b) {
  double quotient = (a - std::fmod(a, b)) / b;
  const double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

Value real_arithmetic(std::string_view op, double a, double b) {
  if ((op == "/" || op == "//" || op == "%") && b == 0) throw Fault{"division by zero"};
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "%") return real_modulo(a, b);
  if (op == "//") return real_floor(a, b);
  if (a == 0 && b < 0) throw Fault{"zero cannot be raised to a negative power"};
  const double power = std::pow(a, b);
  if (std::isnan(power) || std::isinf(power))
    throw Fault{"the power is no finite real number, which is not supported"};
  return power;
}

Value whole_arithmetic(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (op == "+" && __builtin_add_overflow(a, b, &out)) too_large();
  if (op == "-" && __builtin_sub_overflow(a, b, &out)) too_large();
  if (op == "*" && __builtin_mul_overflow(a, b, &out)) too_large();
  if (op == "+" || op == "-" || op == "*") return out;
  if (op == "**") {
    if (b < 0) return real_arithmetic(op, static_cast<double>(a), static_cast<double>(b));
    out = 1;
    if (b == 0 || a == 1) return out;
    if (a == 0) return a;
    if (a == -1) return b % 2 == 0 ? out : a;
    for (std::int64_t i = 0; i < b; ++i)
      if (__builtin_mul_overflow(out, a, &out)) too_large();
    return out;
  }
  if (b == 0) throw Fault{"division by zero"};
  if (op == "/") {
    constexpr std::int64_t kExact = std::int64_t{1} << 53;
    if (std::abs(a) > kExact || std::abs(b) > kExact) too_large();  // Python divides exactly
    return static_cast<double>(a) / static_cast<double>(b);
  }
  if (b == -1) return op == "//" ? whole_arithmetic("-", 0, a) : Value(0);
  const std::int64_t rest = a % b;
  const bool down = rest != 0 && (rest < 0) != (b < 0);
  if (op == "//") return a / b - (down ? 1 : 0);
  return down ? rest + b : rest;
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (both_numbers(a, b)) return order(a, b) == 0;
  if ((a.text() || a.marked()) && (b.text() || b.marked())) return to_text(a) == to_text(b);
  if (a.is_none() || b.is_none()) return a.is_none() && b.is_none();
  if (a.undefined() || b.undefined()) return a.undefined() && b.undefined();
  if (a.sequence() && b.sequence()) {
    const Sequence &x = *a.sequence(), &y = *b.sequence();
    if (&x == &y) return true;
    if (!same_kind(x, y) || !x.has_length() || x.kind == Sequence::Kind::values) return false;
    if (x.values.size() != y.values.size()) return false;
    if (x.kind == Sequence::Kind::keys || x.kind == Sequence::Kind::items)
      return std::all_of(x.values.begin(), x.values.end(),
                         [&](const Value& item) { return holds(b, item); });
    return std::equal(x.values.begin(), x.values.end(), y.values.begin(), equal);
  }
  if (a.dict() && b.dict()) {
    if (a.dict()->entries.size() != b.dict()->entries.size()) return false;
    for (const auto& [key, value] : a.dict()->entries) {
      const Value* other = b.dict()->find(key);
      if (!other || !equal(value, *other)) return false;
    }
    return true;
  }
  return (a.callable() && a.callable() == b.callable()) ||
         (a.name_space() && a.name_space() == b.name_space()) || (a.loop() && a.loop() == b.loop());
}

bool less(const Value& a, const Value& b) {
  if (both_numbers(a, b)) return order(a, b) == -1;
  if (a.text() && b.text()) return *a.text() < *b.text();  // UTF-8 bytes order like code points
  if (is_list_or_tuple(a) && is_list_or_tuple(b) && same_kind(*a.sequence(), *b.sequence())) {
    const Values &x = a.sequence()->values, &y = b.sequence()->values;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
      if (!equal(x[i], y[i])) return less(x[i], y[i]);
    return x.size() < y.size();
  }
  no_operator("<", a, b);
}

bool holds(const Value& holder, const Value& item) {
  if (const auto* text = holder.text()) {
    if (!item.text()) no_operator("in", item, holder);
    return text->find(*item.text()) != std::string::npos;
  }
  if (const auto* dict = holder.dict()) return dict->find(item) != nullptr;
  if (auto* sequence = holder.sequence(); sequence && !sequence->has_length()) {
    // As Python searches a generator: the items that were inspected are gone.
    auto& values = sequence->values;
    const auto at = std::find_if(values.begin(), values.end(),
                                 [&](const Value& own) { return equal(own, item); });
    const bool found = at != values.end();
    values.erase(values.begin(), found ? at + 1 : at);
    return found;
  }
  if (const auto* view = holder.sequence()) {
    const auto* pair = item.sequence();
    if (view->kind == Sequence::Kind::keys) check_hashable(item);
    if (view->kind == Sequence::Kind::items && pair && pair->kind == Sequence::Kind::tuple &&
        pair->values.size() == 2)
      check_hashable(pair->values[0]);
  }
  const Values values = iterate(holder);
  return std::any_of(values.begin(), values.end(),
                     [&](const Value& own) { return equal(own, item); });
}

std::int64_t comparison_steps(const Value& a, const Value& b) {
  if (a.text() && b.text())
    return search_steps(*a.text(), *b.text()) + search_steps(*b.text(), *a.text());
  // Views and lists are traversed again for each item of the other.
  std::int64_t steps = 0;
  const auto both = [&](const Value& one, const Value& other) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(one.breadth(), other.weight(), &product) ? INT64_MAX / 4
                                                                           : product;
  };
  if (__builtin_add_overflow(both(a, b), both(b, a), &steps)) return INT64_MAX / 2;
  return steps;
}

bool compare(std::string_view op, const Value& a, const Value& b) {
  if (op == "==") return equal(a, b);
  if (op == "!=") return !equal(a, b);
  if (op == "in") return holds(b, a);
  if (op == "not in") return !holds(b, a);
  if (both_numbers(a, b)) {  // because NaN has no order
    const int sign = order(a, b);
    return op == "<"    ? sign == -1
           : op == ">"  ? sign == 1
           : op == "<=" ? sign <= 0
                        : sign == 0 || sign == 1;
  }
  if (op == "<") return less(a, b);
  if (op == ">") return less(b, a);
  return op == "<=" ? !less(b, a) : !less(a, b);
}

std::int64_t arithmetic_steps(std::string_view op, const Value& a, const Value& b) {
  if (both_numbers(a, b)) return 1;
  const Value *of = &a, *by = &b;
  if (a.is_number()) std::swap(of, by);
  const bool repeats = op == "*" && by->is_number() && !by->real();
  const std::int64_t times = repeats ? std::max<std::int64_t>(by->whole("a count"), 1) : 1;
  std::int64_t size = 0;  // of the result, in bytes or items
  if (repeats && !of->truth()) return 1;
  const std::int64_t each = of->text() ? std::ssize(*of->text()) : of->breadth();
  if (__builtin_mul_overflow(each + 2, times, &size)) return INT64_MAX;
  return of->text() ? text_steps(static_cast<std::size_t>(size)) + b.breadth() : size + b.breadth();
}

Value arithmetic(std::string_view op, const Value& a, const Value& b) {
  if (both_numbers(a, b))
    return any_real(a, b) ? real_arithmetic(op, a.as_real(), b.as_real())
                          : whole_arithmetic(op, a.whole("a number"), b.whole("a number"));
  if (op == "+") {
    if (a.text() && b.text()) return *a.text() + *b.text();
    if (a.marked() || b.marked()) {
      const auto escaped = [&](const Value& value) {
        if (!value.text() && !value.marked()) no_operator(op, a, b);
        return value.marked() ? *value.marked() : escape_html(*value.text());
      };
      return make_marked(escaped(a) + escaped(b));
    }
    if (is_list_or_tuple(a) && is_list_or_tuple(b) && same_kind(*a.sequence(), *b.sequence())) {
      Values all = a.sequence()->values;
      all.insert(all.end(), b.sequence()->values.begin(), b.sequence()->values.end());
      return make_sequence(std::move(all), a.sequence()->kind);
    }
  }
  if (op == "*") {
    const auto repeats = [](const Value& value) { return value.text() || is_list_or_tuple(value); };
    if (repeats(a) && (b.integer() || b.boolean())) return repeated(a, b.whole("a count"));
    if (repeats(b) && (a.integer() || a.boolean())) return repeated(b, a.whole("a count"));
  }
  if (op == "%" && a.text()) throw Fault{"'%' on a text is not supported here"};
  no_operator(op, a, b);
}

Value negate(const Value& a) {
  if (a.real()) return -*a.real();
  if (a.is_number()) return whole_arithmetic("-", 0, a.whole("a number"));
  no_operator("-", a, a);
}

Value positive(const Value& a) {
  if (a.real()) return a;
  if (a.is_number()) return a.whole("a number");
  no_operator("+", a, a);
}

}  // namespace pardec::jinja
