#pragma once
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// Concatenates what it is given, as `operator<<` prints it.
template <typename... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Splits at every `separator`; an empty text gives one empty piece.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& pieces, std::string_view separator);

/// Without ASCII white space at the end, or at both ends.
std::string_view rstrip(std::string_view text);
std::string_view strip(std::string_view text);
/// With the letters A to Z in lower case.
std::string lower_ascii(std::string text);
std::string replace_all(std::string text, std::string_view from, std::string_view to);

/// Bytes that are no UTF-8 become U+FFFD, one for each maximal invalid part (as Python's
/// `errors="replace"`).
std::string repair_utf8(std::string_view text);

/// What a terminal can be given: controls, which would move the cursor or worse, and marks that
/// turn the direction of writing become "·", a line break "↵"; invalid bytes as above. With `lines`
/// line breaks and tabs stay.
std::string visible_text(std::string_view bytes, bool lines = false);

/// The candidates within a small edit distance of `name`, nearest first, at most three.
std::vector<std::string> near_names(std::string_view name,
                                    const std::vector<std::string>& candidates);

/// Text for an error about an unknown name: `; did you mean 'a' or 'b'?`, else `; known: a, b, c`.
std::string known_names(std::string_view name, const std::vector<std::string>& candidates);

/// Columns that `text` takes on a terminal.
int display_width(std::string_view text);

}  // namespace pardec
