#pragma once
#include <string_view>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// Python's ==, also for lists, dicts, and numbers of different types.
bool equal(const Value& a, const Value& b);
/// Python's <. Fault: the types have no order.
bool less(const Value& a, const Value& b);
/// `item in holder`. A generator loses the items up to the one that was found, as in Python. Fault:
/// `holder` is not a container, or it is a text and `item` is not, or it has keys and `item` cannot
/// be one (check_hashable).
bool holds(const Value& holder, const Value& item);

/// An upper bound of the steps for `compare` with these values, for every operator.
std::int64_t comparison_steps(const Value& a, const Value& b);

/// Evaluates `a op b` for a comparison: ==, !=, <, <=, >, >=, `in` or `not in`. Fault: see `less`
/// and `holds`.
bool compare(std::string_view op, const Value& a, const Value& b);
/// An upper bound of the steps for `arithmetic`.
std::int64_t arithmetic_steps(std::string_view op, const Value& a, const Value& b);
/// Evaluates +, -, *, /, //, % or ** on numbers, texts and lists, as in Python. Fault: the types do
/// not fit; division by zero; the result is an integer beyond 64 bits; integers above 2^53 are
/// divided by `/`; a power is not a finite real number; or the operation is text % values
/// (percent_format does this).
Value arithmetic(std::string_view op, const Value& a, const Value& b);
/// Python's -a and +a. Fault: `a` is not a number, or the result is an integer beyond 64 bits.
Value negate(const Value& a);
Value positive(const Value& a);

}  // namespace pardec::jinja
