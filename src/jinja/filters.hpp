#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// Evaluates `value|name(arguments)`. Fault: jinja2 would raise an error, the case is not
/// supported, the budget of `arguments` is used up, or is_filter(name) is false.
Value apply_filter(const std::string& name, const Value& value, const Arguments& arguments);
/// Evaluates `value is name(arguments)`. Fault: as for apply_filter, with is_test in place of
/// is_filter.
bool apply_test(const std::string& name, const Value& value, const Arguments& arguments);

}  // namespace pardec::jinja
