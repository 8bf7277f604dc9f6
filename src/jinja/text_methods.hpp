#pragma once
#include <optional>
#include <string_view>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// `text.name`, where `name` is a method of Python's str. None: str has no such method. Fault: the
/// method is not supported here. REQUIRES: `text` is a string.
std::optional<Value> text_method(const Value& text, std::string_view name);

/// Python's str.replace: at most `most` replacements (negative: no limit). Takes the steps from
/// `budget` first.
std::string replace_within(Budget& budget, const std::string& text, const std::string& from,
                           const std::string& to, std::int64_t most);

/// Pads a text with `fill` to `width` characters, as Python's ljust, rjust and center do.
enum class Side { left, right, middle };
std::string padded(Budget& budget, const std::string& text, std::int64_t width,
                   const std::string& fill, Side side);

}  // namespace pardec::jinja
