#include "metrics/exact_match.hpp"

#include <algorithm>

#include "metrics/python_text.hpp"

namespace pardec {

bool exact_match(std::string_view prediction, const std::vector<std::string>& references) {
  const std::string answer = python_strip(prediction);
  if (references.empty()) return answer.empty();
  return std::any_of(references.begin(), references.end(), [&](const std::string& reference) {
    return python_strip(reference) == answer;
  });
}

std::optional<char> chosen_letter(std::string_view text, int choices) {
  const auto words = words_of(text);
  const auto among = [&](const std::string& word, char first) {
    return word.size() == 1 && word[0] >= first && word[0] < first + choices;
  };
  for (const auto& word : words)
    if (among(word, 'A')) return word[0];
  if (!words.empty() && among(words.front(), 'a'))
    return static_cast<char>(words.front()[0] - 'a' + 'A');
  return std::nullopt;
}

bool right_choice(std::string_view text, int choices, const std::vector<std::string>& references) {
  const auto letter = chosen_letter(text, choices);
  return letter && std::any_of(references.begin(), references.end(), [&](const auto& reference) {
           return chosen_letter(reference, choices) == letter;
         });
}

}  // namespace pardec
