#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

// Python's three ways of inserting values into a text. Steps for widths are taken from the budget
// in advance. Fault: anything that Python refuses, and integers beyond 64 bits.

/// `text % values`: a tuple, a dict, or a single value.
std::string percent_format(const std::string& text, const Value& values, Budget& budget);

/// `text.format(...)` in jinja2's sandbox, where `{0.name}` and `{0[key]}` are limited to what a
/// template may access.
std::string brace_format(const std::string& text, const Arguments& arguments);
/// `text.format_map(dict)`.
std::string brace_format_map(const std::string& text, const Arguments& arguments);

}  // namespace pardec::jinja
