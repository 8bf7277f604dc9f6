#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Answers that are right or wrong as a whole. Pure functions.
namespace pardec {

/// Whether the prediction is one of the references, character by character, white space at both
/// ends aside. "" is right where there is no reference.
bool exact_match(std::string_view prediction, const std::vector<std::string>& references);

}  // namespace pardec
