#pragma once
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// Prints all arguments with operator<<, and concatenates the results.
template <typename... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Splits a text at every `separator`. An empty text gives one empty piece.
std::vector<std::string> split(std::string_view text, char separator);
/// Concatenates the pieces, with `separator` between them.
std::string join(const std::vector<std::string>& pieces, std::string_view separator);

/// Removes ASCII white space at the end (rstrip) or at both ends (strip).
std::string_view rstrip(std::string_view text);
std::string_view strip(std::string_view text);
/// Converts the letters A to Z to lower case.
std::string lower_ascii(std::string text);
/// Replaces each occurrence of `from`, from left to right. REQUIRES: `from` is not empty.
std::string replace_all(std::string text, std::string_view from, std::string_view to);

/// Replaces each maximal invalid part of UTF-8 by one U+FFFD, as Python's errors="replace" does.
std::string repair_utf8(std::string_view text);

/// Makes text safe for a terminal. Control characters, including tabs, and marks that change the
/// writing direction become "·". Line breaks become "↵". Invalid UTF-8 is repaired (repair_utf8).
/// `lines`: line breaks and tabs are kept.
std::string visible_text(std::string_view bytes, bool lines = false);

/// The text if it has at most `most` bytes. Otherwise its first characters, which have at most
/// `most` bytes, followed by "...".
std::string shortened(std::string_view text, size_t most);

/// Suggestions for a mistyped name: the candidates with a small edit distance from `name`, at most
/// three, the nearest first. The distance counts insertions, deletions and replacements of a byte,
/// and exchanges of two neighbouring bytes. A distance is small if it is at most 1 plus a third of
/// the length of the shorter name, and at most 1 more than the distance of the nearest candidate.
std::vector<std::string> near_names(std::string_view name,
                                    const std::vector<std::string>& candidates);

/// The end of an error message about an unknown name: `; did you mean 'a' or 'b'?`, or, without
/// near names, `; known: a, b, c`.
std::string known_names(std::string_view name, const std::vector<std::string>& candidates);

/// The number of columns that a text of one line takes on a terminal. Wide East Asian characters
/// and emoji count 2, combining marks and control characters 0, other code points 1. Invalid UTF-8
/// is first repaired (repair_utf8).
int display_width(std::string_view text);

}  // namespace pardec
