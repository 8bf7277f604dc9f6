#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// Porter's stemmer (Porter 1980) with the changes of NLTK's class PorterStemmer (its default mode,
/// NLTK_EXTENSIONS), which the package rouge-score uses. The changes: there is a list of irregular
/// words; words of two letters are unchanged; words of four letters in -ies and -ied keep the e
/// (dies -> die); y -> i only after a consonant that is not the word's first letter; -alli becomes
/// -al, and then step 2 is applied again; -bli, -fulli and -logi are suffixes; a word of one vowel
/// and one consonant counts as short. These changes are within the algorithm, so a library's
/// stemmer (Snowball's) cannot be used. REQUIRES: `word` consists of lower-case ASCII letters and
/// digits.
std::string porter_stem(std::string_view word);

}  // namespace pardec
