#pragma once
#include <ctime>
#include <map>
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// Adds the global functions of templates to `names`: range, dict, cycler, joiner, raise_exception,
/// and strftime_now. (The renderer adds `namespace`.) `now`: the time that strftime_now prints.
void add_functions(std::map<std::string, Value>& names, const std::tm& now);

/// Python's dict(...): first the entries of the positional argument, if there is one, then the
/// named arguments. The positional argument is a dict, or a list (or another iterable) of pairs.
/// The members `depth` and `weight` of the result are not set; make_dict sets them. Fault: Python
/// would raise an error, or the budget of `arguments` is used up.
Dict dict_of(const Arguments& arguments);

}  // namespace pardec::jinja
