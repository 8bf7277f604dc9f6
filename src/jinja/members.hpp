#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// `value.name`: the method or member, or else the item with this name. Undefined if there is
/// neither. Fault: `value` is undefined, or the member is one of Python's type that is not
/// supported here or that templates may not access.
Value attribute(const Value& value, const std::string& name);
/// `value[key]`: the item, or else the method or member with this name. Undefined if there is
/// neither. Fault: see attribute; or `value` is a Marked text, which is not supported.
Value item(const Value& value, const Value& key);
/// `value[begin:end:step]`; missing bounds are None. Fault: the value cannot be sliced, a bound or
/// the step is not an integer, the step is 0, or the bounds of a range exceed 64 bits.
Value slice(const Value& value, const Value& begin, const Value& end, const Value& step);

/// The method or member `name`, but no item. Undefined if there is none. Fault: see attribute.
Value only_attribute(const Value& value, const std::string& name);
/// Python's `dict.fromkeys(iterable, value)`. Fault: Python raises an error too.
Value dict_from_keys(const Arguments& arguments);

/// Follows a path of members and items, such as "a.b.0", as filters do. A path that is no text is
/// one key for `item`. `fallback`: replaces an undefined value in the path; None: no replacement.
/// Fault: see item.
Value attribute_path(const Value& value, const Value& path, const Value& fallback = {});

}  // namespace pardec::jinja
