#include "src/support/choice_letters.hpp"

#include <algorithm>

#include "src/support/text.hpp"

namespace pardec {

namespace {

std::string plain(std::string_view text) { return lower_ascii(std::string(strip(text))); }

}  // namespace

std::optional<char> reference_letter(std::string_view reference,
                                     const std::vector<std::string>& choices) {
  const std::string whole = plain(reference);
  if (whole.empty()) return std::nullopt;
  for (std::size_t c = 0; c < choices.size(); ++c) {
    const char lower = static_cast<char>('a' + c), upper = static_cast<char>('A' + c);
    for (const std::string& form :
         {str(lower), str("(", lower, ")"), str(lower, "."), str(lower, ")"), str(lower, ":")})
      if (whole == form) return upper;
  }
  for (const bool exact : {true, false})
    for (std::size_t c = 0; c < choices.size(); ++c)
      if (exact ? strip(choices[c]) == strip(reference) : plain(choices[c]) == whole)
        return static_cast<char>('A' + c);
  for (std::size_t c = 0; c < choices.size(); ++c)  // "B) blue"
    for (const std::string& form :
         {str("(", static_cast<char>('a' + c), ") "), str(static_cast<char>('a' + c), ") "),
          str(static_cast<char>('a' + c), ". "), str(static_cast<char>('a' + c), ": ")})
      if (whole == form + plain(choices[c])) return static_cast<char>('A' + c);
  return std::nullopt;
}

}  // namespace pardec
