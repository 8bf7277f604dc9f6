// A word is a sequence [C](VC)^m[V] of runs of consonants and vowels; m is its measure. Each step
// takes the first suffix of its list that the word ends with, and replaces it if the part before
// the suffix, the stem, fulfils the condition; otherwise the word is unchanged. Steps are numbered
// as in the paper.
#include "metrics/porter_stemmer.hpp"

#include <array>
#include <span>
#include <utility>

namespace pardec {

namespace {

/// y is a consonant at the beginning and after a vowel; digits are consonants.
bool is_consonant(std::string_view word, size_t i) {
  switch (word[i]) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
      return false;
    case 'y':
      return i == 0 || !is_consonant(word, i - 1);
    default:
      return true;
  }
}

int measure(std::string_view stem) {
  int m = 0;
  for (size_t i = 1; i < stem.size(); ++i) m += !is_consonant(stem, i - 1) && is_consonant(stem, i);
  return m;
}

bool has_vowel(std::string_view stem) {
  for (size_t i = 0; i < stem.size(); ++i)
    if (!is_consonant(stem, i)) return true;
  return false;
}

/// The paper's condition *d.
bool ends_in_double_consonant(std::string_view word) {
  const size_t n = word.size();
  return n >= 2 && word[n - 1] == word[n - 2] && is_consonant(word, n - 1);
}

/// The paper's condition *o: consonant, vowel, consonant other than w, x, y. NLTK also: a word of
/// one vowel and one consonant.
bool ends_short(std::string_view word) {
  const size_t n = word.size();
  if (n == 2) return !is_consonant(word, 0) && is_consonant(word, 1);
  return n >= 3 && is_consonant(word, n - 3) && !is_consonant(word, n - 2) &&
         is_consonant(word, n - 1) && word[n - 1] != 'w' && word[n - 1] != 'x' &&
         word[n - 1] != 'y';
}

bool positive(std::string_view stem) { return measure(stem) > 0; }
bool above_one(std::string_view stem) { return measure(stem) > 1; }

struct Rule {
  std::string_view suffix, replacement;
};

/// The first rule with a matching suffix decides.
template <typename Condition>
std::string apply(std::span<const Rule> rules, const std::string& word, Condition holds) {
  for (const auto& [suffix, replacement] : rules) {
    if (!word.ends_with(suffix)) continue;
    const std::string stem = word.substr(0, word.size() - suffix.size());
    return holds(stem, suffix) ? stem + std::string(replacement) : word;
  }
  return word;
}

std::string step_1a(const std::string& word) {
  if (word.size() == 4 && word.ends_with("ies")) return word.substr(0, 3);
  constexpr std::array<Rule, 4> kRules{{{"sses", "ss"}, {"ies", "i"}, {"ss", "ss"}, {"s", ""}}};
  return apply(kRules, word, [](auto&&...) { return true; });
}

std::string step_1b(const std::string& word) {
  if (word.ends_with("ied")) return word.substr(0, word.size() - (word.size() == 4 ? 1 : 2));
  if (word.ends_with("eed"))
    return positive(word.substr(0, word.size() - 3)) ? word.substr(0, word.size() - 1) : word;
  std::string stem;
  for (const std::string_view suffix : {"ed", "ing"})
    if (word.ends_with(suffix)) stem = word.substr(0, word.size() - suffix.size());
  if (!has_vowel(stem)) return word;
  if (stem.ends_with("at") || stem.ends_with("bl") || stem.ends_with("iz")) return stem + "e";
  if (ends_in_double_consonant(stem)) {
    const char last = stem.back();
    if (last != 'l' && last != 's' && last != 'z') stem.pop_back();
    return stem;
  }
  return measure(stem) == 1 && ends_short(stem) ? stem + "e" : stem;
}

std::string step_1c(std::string word) {
  const size_t n = word.size();
  if (n > 2 && word[n - 1] == 'y' && is_consonant(word, n - 2)) word[n - 1] = 'i';
  return word;
}

std::string step_2(const std::string& word) {
  if (word.ends_with("alli") && positive(word.substr(0, word.size() - 4)))
    return step_2(word.substr(0, word.size() - 2));
  constexpr std::array<Rule, 22> kRules{{
      {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"},
      {"izer", "ize"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"},
      {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
      {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"},
      {"ousness", "ous"}, {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
      {"fulli", "ful"},   {"logi", "log"},
  }};
  return apply(kRules, word, [](std::string stem, std::string_view suffix) {
    if (suffix == "logi") stem += 'l';  // NLTK includes the l in the measure
    return positive(stem);
  });
}

std::string step_3(const std::string& word) {
  constexpr std::array<Rule, 7> kRules{{{"icate", "ic"},
                                        {"ative", ""},
                                        {"alize", "al"},
                                        {"iciti", "ic"},
                                        {"ical", "ic"},
                                        {"ful", ""},
                                        {"ness", ""}}};
  return apply(kRules, word, [](const auto& stem, auto) { return positive(stem); });
}

std::string step_4(const std::string& word) {
  constexpr std::array<Rule, 19> kRules{{{"al", ""},
                                         {"ance", ""},
                                         {"ence", ""},
                                         {"er", ""},
                                         {"ic", ""},
                                         {"able", ""},
                                         {"ible", ""},
                                         {"ant", ""},
                                         {"ement", ""},
                                         {"ment", ""},
                                         {"ent", ""},
                                         {"ion", ""},
                                         {"ou", ""},
                                         {"ism", ""},
                                         {"ate", ""},
                                         {"iti", ""},
                                         {"ous", ""},
                                         {"ive", ""},
                                         {"ize", ""}}};
  return apply(kRules, word, [](const std::string& stem, std::string_view suffix) {
    return above_one(stem) && (suffix != "ion" || stem.back() == 's' || stem.back() == 't');
  });
}

std::string step_5a(const std::string& word) {
  if (!word.ends_with('e')) return word;
  const std::string stem = word.substr(0, word.size() - 1);
  return above_one(stem) || (measure(stem) == 1 && !ends_short(stem)) ? stem : word;
}

std::string step_5b(std::string word) {
  if (word.ends_with("ll") && above_one(std::string_view(word).substr(0, word.size() - 1)))
    word.pop_back();
  return word;
}

/// NLTK's irregular words.
std::string_view irregular(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kIrregular{{
      {"sky", "sky"},
      {"skies", "sky"},
      {"dying", "die"},
      {"lying", "lie"},
      {"tying", "tie"},
      {"news", "news"},
      {"innings", "inning"},
      {"inning", "inning"},
      {"outings", "outing"},
      {"outing", "outing"},
      {"cannings", "canning"},
      {"canning", "canning"},
      {"howe", "howe"},
      {"proceed", "proceed"},
      {"exceed", "exceed"},
      {"succeed", "succeed"},
  }};
  for (const auto& [form, stem] : kIrregular)
    if (form == word) return stem;
  return {};
}

}  // namespace

std::string porter_stem(std::string_view word) {
  if (const auto stem = irregular(word); !stem.empty()) return std::string(stem);
  if (word.size() <= 2) return std::string(word);
  return step_5b(step_5a(step_4(step_3(step_2(step_1c(step_1b(step_1a(std::string(word)))))))));
}

}  // namespace pardec
