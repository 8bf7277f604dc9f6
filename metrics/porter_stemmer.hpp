#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// Porter's stemmer (Porter 1980) with the changes that NLTK makes to it by default (class
/// PorterStemmer, mode NLTK_EXTENSIONS), since the package rouge-score stems with that: a list of
/// irregular words; two letters stay as they are; dies -> die and died -> die; y -> i only behind a
/// consonant that is not the word's first letter; -alli is reduced and taken up again; -bli, -fulli
/// and -logi are suffixes; vowel and consonant alone count as short. They change words in the
/// middle of the algorithm, so the stemmer of a library (Snowball's) cannot be brought in line from
/// outside. `word`: lower-case ASCII letters and digits.
std::string porter_stem(std::string_view word);

}  // namespace pardec
