#pragma once
#include <string_view>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// Python's ==, over lists, dicts and numbers of several types too.
bool equal(const Value& a, const Value& b);
/// Python's <. Fault where the types have no order.
bool less(const Value& a, const Value& b);
/// `item in holder`. Fault where `holder` holds nothing.
bool holds(const Value& holder, const Value& item);

/// Steps that a comparison of the two takes at most, `in` among them.
std::int64_t comparison_steps(const Value& a, const Value& b);

/// == != < <= > >= `in` `not in`.
bool compare(std::string_view op, const Value& a, const Value& b);
/// Steps that `arithmetic` takes at most.
std::int64_t arithmetic_steps(std::string_view op, const Value& a, const Value& b);
/// + - * / // % **, on numbers, texts and lists as Python has them. Fault: types that do not fit,
/// an integer beyond 64 bits, `%` as text formatting.
Value arithmetic(std::string_view op, const Value& a, const Value& b);
Value negate(const Value& a);
Value positive(const Value& a);

}  // namespace pardec::jinja
