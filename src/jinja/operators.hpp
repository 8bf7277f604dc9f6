#pragma once
#include <string_view>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// Python's ==, including lists, dicts and numbers of different types.
bool equal(const Value& a, const Value& b);
/// Python's <. Fault: the types have no order.
bool less(const Value& a, const Value& b);
/// `item in holder`. Fault: `holder` is not a container.
bool holds(const Value& holder, const Value& item);

/// Upper bound of the steps of comparing the two, including `in`.
std::int64_t comparison_steps(const Value& a, const Value& b);

/// == != < <= > >= `in` `not in`.
bool compare(std::string_view op, const Value& a, const Value& b);
/// Upper bound of the steps of `arithmetic`.
std::int64_t arithmetic_steps(std::string_view op, const Value& a, const Value& b);
/// + - * / // % ** on numbers, texts and lists, as in Python. Fault: types that do not fit, an
/// integer beyond 64 bits, `%` as text formatting.
Value arithmetic(std::string_view op, const Value& a, const Value& b);
Value negate(const Value& a);
Value positive(const Value& a);

}  // namespace pardec::jinja
