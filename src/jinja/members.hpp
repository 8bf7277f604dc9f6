#pragma once
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// `value.name`: a method or member, otherwise the item with that name; undefined if there is
/// neither. Fault: a Python member that is not supported, or not accessible to templates.
Value attribute(const Value& value, const std::string& name);
/// `value[key]`: an item, otherwise a method or member with that name; undefined if there is
/// neither.
Value item(const Value& value, const Value& key);
/// `value[begin:end:step]`; missing bounds are None. Fault: the value cannot be sliced.
Value slice(const Value& value, const Value& begin, const Value& end, const Value& step);

/// Only a method or member; undefined if there is none.
Value only_attribute(const Value& value, const std::string& name);
/// `dict.fromkeys`.
Value dict_from_keys(const Arguments& arguments);

/// Members by path, as filters take them: "a.b.0".
Value attribute_path(const Value& value, const Value& path, const Value& fallback = {});

}  // namespace pardec::jinja
