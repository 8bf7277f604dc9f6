#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// `value.name`: the method or member with this name; if there is none, the item with this name.
/// The result is Undefined if there is no such item either, or if the method would change a list or
/// dict. Fault: `value` is undefined; Python's type has this member, but the member is not
/// supported here; or templates may not access the member (`__class__` and others).
Value attribute(const Value& value, const std::string& name);
/// `value[key]`: the item; if there is none, the method or member whose name is `key`. The result
/// is Undefined if there is no such member either, or if the method would change a list or dict.
/// Fault: see attribute; or `value` is a Marked text, which is not supported.
Value item(const Value& value, const Value& key);
/// `value[begin:end:step]`; missing bounds are None. Fault: the value cannot be sliced, a bound or
/// the step is not an integer, the step is 0, or the bounds of a range exceed 64 bits.
Value slice(const Value& value, const Value& begin, const Value& end, const Value& step);

/// Like `attribute`, but never returns an item: without such a method or member, the result is
/// Undefined.
Value only_attribute(const Value& value, const std::string& name);
/// Python's `dict.fromkeys(iterable, value)`. Fault: Python would raise an error.
Value dict_from_keys(const Arguments& arguments);

/// Follows a path of members and items, such as "a.b.0", as filters do. Each part of the path is a
/// key for `item`; a part that consists of digits is an integer. A path that is not a text is one
/// key. `fallback`: replaces an undefined value at each part; None: no replacement. Fault: see
/// item; or an integer is beyond 64 bits.
Value attribute_path(const Value& value, const Value& path, const Value& fallback = {});

}  // namespace pardec::jinja
