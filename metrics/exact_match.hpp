#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Answers that are right or wrong as a whole. Pure functions.
namespace pardec {

/// Whether the prediction equals one of the references, ignoring white space at both ends. "" is
/// right if there are no references.
bool exact_match(std::string_view prediction, const std::vector<std::string>& references);

}  // namespace pardec
