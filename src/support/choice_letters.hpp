#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// Choices of a question are lettered A, B, ... in order: at most this many.
inline constexpr std::size_t kMostChoices = 26;

/// The letter that a reference means: a letter in either case, also as "(B)", "B." or "B) blue", or
/// a choice's text (letters of ASCII in either case, white space at both ends aside). A letter goes
/// before a text. Nothing: it is none of these. REQUIRES: at most kMostChoices choices.
std::optional<char> reference_letter(std::string_view reference,
                                     const std::vector<std::string>& choices);

}  // namespace pardec
