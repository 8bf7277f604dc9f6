#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

// Python's three ways of formatting values into a text. Before text is padded to a width, the steps
// for the padding are taken from the budget. Fault: Python raises an error too, or the case is not
// supported, e.g. an integer beyond 64 bits.

/// `text % values`. `values`: a tuple, a dict, or a single value.
std::string percent_format(const std::string& text, const Value& values, Budget& budget);

/// `text.format(...)` as in jinja2's sandbox: `{0.name}` and `{0[key]}` can read only members that
/// templates may access.
std::string brace_format(const std::string& text, const Arguments& arguments);
/// `text.format_map(dict)`. `arguments`: the dict.
std::string brace_format_map(const std::string& text, const Arguments& arguments);

}  // namespace pardec::jinja
