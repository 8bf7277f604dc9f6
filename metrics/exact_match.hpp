#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Exact match of whole answers. Pure functions.
namespace pardec {

/// Whether the prediction equals one of the references, ignoring white space at both ends
/// (python_strip). If there are no references, only an empty prediction is right.
bool exact_match(std::string_view prediction, const std::vector<std::string>& references);

}  // namespace pardec
