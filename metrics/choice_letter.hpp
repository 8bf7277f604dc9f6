#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Finds the choice that an answer to a multiple-choice question names. Pure functions. Choices are
/// lettered as in src/support/choice_letters.hpp. A choice's text may be empty: unknown.
namespace pardec {

/// The letter that an answer chooses. Cases of each rule are in results/answers.md. The first rule
/// that finds a letter decides:
///  1. the whole answer is the text of one choice, or its first line is a capital letter alone;
///  2. the last statement: "the answer is B", "ANSWER: b" (the pattern of inspect_ai), "I choose
///     (B)", "B is correct", \boxed{B}, or a last line that is a letter alone; a choice's text may
///     replace its letter;
///  3. the letter at the beginning of the answer: "B", "(b)", "B) blue", "**B**", "Option b";
///  4. the first capital letter that is a separate word;
///  5. a lower-case letter that is marked as a choice: "(b)", "b)", "option b";
///  6. the only choice whose text occurs in the answer.
/// The article "A", the pronoun "I" and rejected choices ("not B", "A is wrong", "neither A nor C")
/// do not count. Nothing: no letter, or several at once ("A or B"); that counts as wrong.
std::optional<char> chosen_letter(std::string_view text, const std::vector<std::string>& choices);

/// Whether the chosen letter is one of the references (reference_letter).
bool right_choice(std::string_view text, const std::vector<std::string>& choices,
                  const std::vector<std::string>& references);

}  // namespace pardec
