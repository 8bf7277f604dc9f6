#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

// Python's three ways to put values into a text. Steps for their widths are taken from the budget
// before. Fault: what Python refuses, and an integer beyond 64 bits.

/// `text % values`: a tuple, a dict, or one value.
std::string percent_format(const std::string& text, const Value& values, Budget& budget);

/// `text.format(...)` in jinja2's sandbox, where `{0.name}` and `{0[key]}` are what a template may
/// look at.
std::string brace_format(const std::string& text, const Arguments& arguments);
/// `text.format_map(dict)`.
std::string brace_format_map(const std::string& text, const Arguments& arguments);

}  // namespace pardec::jinja
