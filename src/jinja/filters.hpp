#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// `value|name(arguments)`. REQUIRES: is_filter(name). Fault: the errors of jinja2.
Value apply_filter(const std::string& name, const Value& value, const Arguments& arguments);
/// `value is name(arguments)`. REQUIRES: is_test(name).
bool apply_test(const std::string& name, const Value& value, const Arguments& arguments);

}  // namespace pardec::jinja
