#pragma once
#include <ctime>
#include <map>
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// Adds the global functions of templates to `names`: range, dict, cycler, joiner, raise_exception,
/// and strftime_now. (The renderer adds `namespace`.) `now`: the time that strftime_now prints.
void add_functions(std::map<std::string, Value>& names, const std::tm& now);

/// Python's dict(...): the entries of a dict or list of pairs, then the named arguments. Depth and
/// weight are not set (see make_dict). Fault: Python would raise an error.
Dict dict_of(const Arguments& arguments);

}  // namespace pardec::jinja
