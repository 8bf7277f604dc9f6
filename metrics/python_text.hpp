#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Text as Python's str sees it, for metrics that are defined by a Python program: lower case,
/// white space and words of Unicode. Texts are UTF-8; bytes that are none count as U+FFFD. Pure
/// functions, as new as the installed utf8proc (2.8: Unicode 15, Python 3.11 has 14).
namespace pardec {

/// str.lower(): every character's full lower case, and the Greek sigma's form at the end of a word.
std::string python_lower(std::string_view text);

/// str.split(): the pieces between white space, none of them empty.
std::vector<std::string> python_split(std::string_view text);

/// str.strip().
std::string python_strip(std::string_view text);

/// A stretch of text: either one run of \w of Python's re (letters and numbers of Unicode, and the
/// underscore), or one run of all else. In turn they make up the text.
struct WordStretch {
  bool word;
  std::string text;
};
std::vector<WordStretch> word_stretches(std::string_view text);

/// The words of a text: its \w runs.
std::vector<std::string> words_of(std::string_view text);

/// unicodedata.normalize("NFC").
std::string composed(std::string_view text);

/// The words of a text in lower case, composed (NFC), by Unicode's categories: runs of letters,
/// marks and numbers. A character of a script that sets no spaces between words is a word with the
/// marks after it: Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar.
std::vector<std::string> script_words(std::string_view text);

}  // namespace pardec
