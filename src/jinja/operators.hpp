#pragma once
#include <string_view>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// Python's ==, also for lists, dicts, and numbers of different types.
bool equal(const Value& a, const Value& b);
/// Python's <. Fault: the types have no order.
bool less(const Value& a, const Value& b);
/// `item in holder`. A generator loses all items up to the found item, as in Python. Fault:
/// `holder` is not iterable; `holder` is a text, but `item` is not; or `holder` has keys, but
/// `item` cannot be a key (check_hashable).
bool holds(const Value& holder, const Value& item);

/// An upper bound of the steps (see Budget) that `compare` needs for these values, whatever the
/// operator. The functions of this header take no steps themselves; callers take them before a
/// call.
std::int64_t comparison_steps(const Value& a, const Value& b);

/// Evaluates `a op b` for a comparison: ==, !=, <, <=, >, >=, `in` or `not in`. Fault: see `less`
/// and `holds`.
bool compare(std::string_view op, const Value& a, const Value& b);
/// An upper bound of the steps that `arithmetic` needs for these arguments.
std::int64_t arithmetic_steps(std::string_view op, const Value& a, const Value& b);
/// Evaluates +, -, *, /, //, % or ** on numbers, texts, lists and tuples, as in Python. Fault: the
/// types do not fit; division by zero; the result is an integer beyond 64 bits; integers above 2^53
/// are divided by `/`; a power is not a finite real number; or the operation is text % values (use
/// percent_format).
Value arithmetic(std::string_view op, const Value& a, const Value& b);
/// Python's -a and +a. Fault: `a` is not a number, or the result is an integer beyond 64 bits.
Value negate(const Value& a);
Value positive(const Value& a);

}  // namespace pardec::jinja
