#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Finds the choice that an answer to a multiple-choice question names. Pure functions.
/// src/support/choice_letters.hpp defines the letters of choices. The text of a choice is empty if
/// it is not known.
namespace pardec {

/// The letter that an answer names. The first of these rules that finds a letter decides
/// (results/answers.md has examples):
///  1. the whole answer is the text of one choice, or its first line is a single capital letter;
///  2. the last statement: "the answer is B", "ANSWER: b" (the pattern of inspect_ai), "I choose
///     (B)", "B is correct", \boxed{B}, or a last line that is a letter alone; a choice's text may
///     replace its letter;
///  3. the letter at the beginning of the answer: "B", "(b)", "B) blue", "**B**", "Option b";
///  4. the first capital letter that is a separate word;
///  5. a lower-case letter that is marked as a choice: "(b)", "b)", "option b";
///  6. the only choice whose text occurs in the answer.
/// The article "A", the pronoun "I" and rejected choices ("not B", "A is wrong", "neither A nor C")
/// do not count. A choice that is named by its number ("option 2", "the second option") counts as
/// its capital letter. Lists of all choices, and ranges such as "A to D", do not count. If the
/// answer continues with a line "Question:", as base models do, the text before this line is
/// searched first. `choices`: the texts of the choices. The result is a capital letter. None: the
/// answer names no letter, or several letters at once ("A or B"); both count as wrong.
std::optional<char> chosen_letter(std::string_view text, const std::vector<std::string>& choices);

/// Whether an answer names (chosen_letter) the letter of one of the references. A reference is a
/// letter or the text of a choice (reference_letter).
bool right_choice(std::string_view text, const std::vector<std::string>& choices,
                  const std::vector<std::string>& references);

}  // namespace pardec
