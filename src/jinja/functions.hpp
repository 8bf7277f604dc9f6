#pragma once
#include <ctime>
#include <map>
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// Adds the functions available to templates: range, dict, cycler, joiner, raise_exception, and
/// strftime_now, which formats `now`.
void add_functions(std::map<std::string, Value>& names, const std::tm& now);

/// `dict(...)`: from a dict or pairs, then from named arguments.
Dict dict_of(const Arguments& arguments);

}  // namespace pardec::jinja
