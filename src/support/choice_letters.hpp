#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// Maximum number of choices, which are lettered A, B, ... in order.
inline constexpr std::size_t kMostChoices = 26;

/// The letter of the choice with this index. REQUIRES: less than kMostChoices.
inline std::string choice_letter(std::size_t index) {
  return std::string(1, static_cast<char>('A' + index));
}

/// The letter meant by a reference. The reference is a letter in either case, also as "(B)", "B."
/// or "B) blue", or a choice's text (ignoring ASCII case and white space at the ends). A letter
/// takes precedence over a text. Nothing: it is none of these. REQUIRES: at most kMostChoices
/// choices.
std::optional<char> reference_letter(std::string_view reference,
                                     const std::vector<std::string>& choices);

}  // namespace pardec
