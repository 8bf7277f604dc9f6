#pragma once
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// Concatenates its arguments, printed with `operator<<`.
template <typename... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Splits at every `separator`. An empty text gives one empty piece.
std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& pieces, std::string_view separator);

/// Without ASCII white space at the end (rstrip), or at both ends (strip).
std::string_view rstrip(std::string_view text);
std::string_view strip(std::string_view text);
/// With the letters A to Z in lower case.
std::string lower_ascii(std::string text);
std::string replace_all(std::string text, std::string_view from, std::string_view to);

/// Replaces invalid UTF-8 with U+FFFD, one per maximal invalid part (as Python's
/// `errors="replace"`).
std::string repair_utf8(std::string_view text);

/// Text that is safe on a terminal. Control characters, which could move the cursor or do worse,
/// and marks that change the writing direction become "·"; line breaks become "↵"; invalid bytes as
/// above. With `lines`, line breaks and tabs are kept.
std::string visible_text(std::string_view bytes, bool lines = false);

/// At most the first `most` bytes, in whole characters; "..." is added where something is left out.
std::string shortened(std::string_view text, size_t most);

/// The candidates within a small edit distance of `name`: at most three, nearest first.
std::vector<std::string> near_names(std::string_view name,
                                    const std::vector<std::string>& candidates);

/// Text for an error about an unknown name: `; did you mean 'a' or 'b'?`, else `; known: a, b, c`.
std::string known_names(std::string_view name, const std::vector<std::string>& candidates);

/// Number of columns of `text` on a terminal.
int display_width(std::string_view text);

}  // namespace pardec
