#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

// Python's functions that format values into a text. Each function counts its work in steps
// (Budget). Before a piece of work, the function takes the steps from `budget`, or from the budget
// in `arguments`. Fault: Python would raise an error; the case is not supported, e.g. an integer
// beyond 64 bits; or the budget is used up.

/// `text % values`. `values`: a tuple with a value for each placeholder, a dict for placeholders
/// with names (`%(name)s`), or a single value.
std::string percent_format(const std::string& text, const Value& values, Budget& budget);

/// `text.format(arguments)` as in jinja2's sandbox: `{0.name}` and `{0[key]}` can read only members
/// that templates may access.
std::string brace_format(const std::string& text, const Arguments& arguments);
/// `text.format_map(dict)`. `arguments`: one argument, the dict.
std::string brace_format_map(const std::string& text, const Arguments& arguments);

}  // namespace pardec::jinja
