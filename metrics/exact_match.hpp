#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Answers that are right or wrong as a whole. Pure functions.
namespace pardec {

/// Whether the prediction is one of the references, character by character, white space at both
/// ends aside. "" is right where there is no reference.
bool exact_match(std::string_view prediction, const std::vector<std::string>& references);

/// The letter of a multiple-choice answer among the first `choices` letters of the alphabet (the
/// first letter found in the output, as the IPPD paper says): of the words of the text, the first
/// that is one of these letters in upper case and nothing else ("(B)", "B.", "The answer is C");
/// where there is none, the first word if it is one in lower case ("b)"). Nothing: no letter was
/// given, which counts as wrong. REQUIRES: 0 <= choices <= 26.
std::optional<char> chosen_letter(std::string_view text, int choices);

/// Whether the chosen letter is one of the references (each a letter, in either case).
bool right_choice(std::string_view text, int choices, const std::vector<std::string>& references);

}  // namespace pardec
