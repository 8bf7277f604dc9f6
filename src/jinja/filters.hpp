#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// Evaluates `value|name(arguments)`. REQUIRES: is_filter(name). Fault: jinja2 raises an error too,
/// or the case is not supported.
Value apply_filter(const std::string& name, const Value& value, const Arguments& arguments);
/// Evaluates `value is name(arguments)`. REQUIRES: is_test(name). Fault: see apply_filter.
bool apply_test(const std::string& name, const Value& value, const Arguments& arguments);

}  // namespace pardec::jinja
