#pragma once
#include <optional>
#include <string_view>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// `text.name`, where `name` is a method of Python's str. The result is a Callable. None: str has
/// no such method. Fault: the method is not supported here. REQUIRES: text.text() is not null.
std::optional<Value> text_method(const Value& text, std::string_view name);

/// Python's str.replace: at most `most` replacements (negative: no limit). Before the work, the
/// function takes the steps for it from `budget`. Fault: the budget is used up.
std::string replace_within(Budget& budget, const std::string& text, const std::string& from,
                           const std::string& to, std::int64_t most);

/// Where `padded` places a text.
enum class Side { left, right, middle };
/// Pads a text to `width` characters, as Python's ljust, rjust and center do. `fill`: one
/// character. A text that is already this wide is returned unchanged. Before the work, the function
/// takes the steps for it from `budget`. Fault: the budget is used up.
std::string padded(Budget& budget, const std::string& text, std::int64_t width,
                   const std::string& fill, Side side);

}  // namespace pardec::jinja
