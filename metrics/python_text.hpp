#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Functions with the semantics of Python's str, for metrics that are defined by a Python program.
/// Texts are UTF-8; invalid bytes count as U+FFFD. Pure functions. The Unicode version is the
/// version of the installed utf8proc (2.8: Unicode 15; Python 3.11 has Unicode 14).
namespace pardec {

/// str.lower(): the full lower case of every character, with the final form of the Greek sigma.
std::string python_lower(std::string_view text);

/// str.split(): the non-empty pieces between white space.
std::vector<std::string> python_split(std::string_view text);

/// str.strip().
std::string python_strip(std::string_view text);

/// A part of a text: a run of characters that match \w in Python's re (Unicode letters and numbers,
/// and the underscore), or a run of other characters. All parts in order make up the text.
struct WordStretch {
  bool word;  ///< whether the part is a run of \w characters
  std::string text;
};
std::vector<WordStretch> word_stretches(std::string_view text);

/// The words of a text: its runs of \w characters.
std::vector<std::string> words_of(std::string_view text);

/// unicodedata.normalize("NFC"). REQUIRES: the text is valid UTF-8.
std::string composed(std::string_view text);

/// The words of a text, in lower case and composed (NFC): runs of Unicode letters, marks and
/// numbers. In scripts without spaces between words (Han, Hiragana, Katakana, Thai, Lao, Khmer,
/// Myanmar), each character with the marks after it is a word.
std::vector<std::string> script_words(std::string_view text);

}  // namespace pardec
