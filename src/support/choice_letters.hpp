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

/// The letter of the choice that a reference answer means. The reference may be a letter ("b", "B",
/// "(B)", "B.", "B) blue"), or the text of a choice (ignoring ASCII case and white space at both
/// ends). If both are possible, the letter counts. None: it is neither. REQUIRES: at most
/// kMostChoices choices.
std::optional<char> reference_letter(std::string_view reference,
                                     const std::vector<std::string>& choices);

}  // namespace pardec
