#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Which choice an answer to a multiple-choice question names. Pure functions. Choices are lettered
/// as in src/support/choice_letters.hpp; a choice's text may be empty: not known.
namespace pardec {

/// The letter that an answer chooses. Each rule has its cases in results/answers.md; the first rule
/// that finds a letter counts:
///  1. the whole answer is one choice's text, or its first line is a capital letter alone;
///  2. the last statement: "the answer is B", "ANSWER: b" (the pattern of inspect_ai), "I choose
///     (B)", "B is correct", \boxed{B}, or a last line that is a letter alone; a choice's text may
///     stand there in place of its letter;
///  3. the letter that the answer begins with: "B", "(b)", "B) blue", "**B**", "Option b";
///  4. the first capital that stands alone;
///  5. a lower-case letter that is marked as one: "(b)", "b)", "option b";
///  6. the only choice whose text stands in the answer.
/// The article "A", the pronoun "I" and choices that are rejected ("not B", "A is wrong", "neither
/// A nor C") do not count. Nothing: no letter, or several at once ("A or B"); that counts as wrong.
std::optional<char> chosen_letter(std::string_view text, const std::vector<std::string>& choices);

/// Whether the chosen letter is one that the references mean (reference_letter).
bool right_choice(std::string_view text, const std::vector<std::string>& choices,
                  const std::vector<std::string>& references);

}  // namespace pardec
