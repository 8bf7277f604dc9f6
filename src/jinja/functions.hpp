#pragma once
#include <ctime>
#include <map>
#include <string>

#include "src/jinja/value.hpp"

namespace pardec::jinja {

/// The functions that a template finds: range, dict, cycler, joiner, raise_exception, and
/// strftime_now, which writes `now`.
void add_functions(std::map<std::string, Value>& names, const std::tm& now);

/// `dict(...)` of the arguments: of a dict or of pairs, then of those with names.
Dict dict_of(const Arguments& arguments);

}  // namespace pardec::jinja
