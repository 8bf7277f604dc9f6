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

}  // namespace pardec
