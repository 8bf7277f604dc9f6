#pragma once
#include <optional>
#include <string_view>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// `text.name`, a method of Python's str; empty if there is no such method. Fault: the method is
/// not supported. REQUIRES: `text` holds a string.
std::optional<Value> text_method(const Value& text, std::string_view name);

/// Python's str.replace, with its steps taken from `budget` in advance. `most` negative: all.
std::string replace_within(Budget& budget, const std::string& text, const std::string& from,
                           const std::string& to, std::int64_t most);

/// Padded with `fill` to `width` characters, as Python's ljust, rjust and center.
enum class Side { left, right, middle };
std::string padded(Budget& budget, const std::string& text, std::int64_t width,
                   const std::string& fill, Side side);

}  // namespace pardec::jinja
