#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// Maximum number of choices of a multiple-choice question. Choices have the letters A, B, ... in
/// order.
inline constexpr std::size_t kMostChoices = 26;

/// The letter of the choice with this index. REQUIRES: index < kMostChoices.
inline std::string choice_letter(std::size_t index) {
  return std::string(1, static_cast<char>('A' + index));
}

/// The letter, in upper case, of the choice that a reference answer means. The reference may be a
/// letter ("B", "(B)", "B.", "B)", "B:"), the text of a choice, or a letter with the text of its
/// choice ("B) blue"). These forms are tried in this order. ASCII case and white space at both ends
/// are ignored; of two choices that differ only in these, the one with exactly the reference's case
/// is taken. None: the reference has none of these forms. REQUIRES: at most kMostChoices choices.
std::optional<char> reference_letter(std::string_view reference,
                                     const std::vector<std::string>& choices);

}  // namespace pardec
