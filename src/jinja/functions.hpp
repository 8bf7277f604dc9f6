#pragma once
#include <ctime>
#include <map>
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// Adds the global functions of templates: range, dict, cycler, joiner, raise_exception, and
/// strftime_now. (The renderer adds `namespace`.) `now`: the time for strftime_now.
void add_functions(std::map<std::string, Value>& names, const std::tm& now);

/// Python's dict(...): the entries of a dict or list of pairs, then the named arguments. Fault:
/// Python raises an error too.
Dict dict_of(const Arguments& arguments);

}  // namespace pardec::jinja
