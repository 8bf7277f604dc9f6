#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// Maximum number of choices of a multiple-choice question. The choices have the letters A, B, ...
/// in order.
inline constexpr std::size_t kMostChoices = 26;

/// The letter of the choice with this index. REQUIRES: index < kMostChoices.
inline std::string choice_letter(std::size_t index) {
  return std::string(1, static_cast<char>('A' + index));
}

/// The letter, in upper case, of the choice that a reference answer names. The reference may have
/// one of these forms, which are tried in this order:
/// - a letter: "B", "(B)", "B.", "B)" or "B:";
/// - the text of a choice;
/// - a letter with the text of its choice: "B) blue", "(B) blue", "B. blue" or "B: blue".
/// ASCII case is ignored, and so is ASCII white space at both ends of the reference and of each
/// choice. If the text of more than one choice equals the reference when case is ignored, then the
/// first of these choices that has the same case as the reference counts; if there is none, the
/// first of these choices counts. None: the reference has none of these forms. REQUIRES: at most
/// kMostChoices choices.
std::optional<char> reference_letter(std::string_view reference,
                                     const std::vector<std::string>& choices);

}  // namespace pardec
