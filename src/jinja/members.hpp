#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// `value.name`: a method or member, else the item of that name; undefined where there is neither.
/// Fault: a member that Python has and that is not supported or closed to templates.
Value attribute(const Value& value, const std::string& name);
/// `value[key]`: an item, else a method or member of that name; undefined where there is neither.
Value item(const Value& value, const Value& key);
/// `value[begin:end:step]`; bounds that are not given are None. Fault where it cannot be sliced.
Value slice(const Value& value, const Value& begin, const Value& end, const Value& step);

/// A method or member alone; undefined where there is none.
Value only_attribute(const Value& value, const std::string& name);
/// `dict.fromkeys`.
Value dict_from_keys(const Arguments& arguments);

/// The filters' way to name members: "a.b.0".
Value attribute_path(const Value& value, const Value& path, const Value& fallback = {});

}  // namespace pardec::jinja
