#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// Porter's stemmer (Porter 1980) with NLTK's default changes (class PorterStemmer, mode
/// NLTK_EXTENSIONS), as used by the package rouge-score. The changes: a list of irregular words;
/// words of two letters are unchanged; dies -> die and died -> die; y -> i only after a consonant
/// that is not the word's first letter; after -alli is reduced, its step starts again; -bli, -fulli
/// and -logi are suffixes; a vowel and a consonant alone count as short. They affect the middle of
/// the algorithm, so a library's stemmer (Snowball's) cannot be adapted from outside. `word`:
/// lower-case ASCII letters and digits.
std::string porter_stem(std::string_view word);

}  // namespace pardec
