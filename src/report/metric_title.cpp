#include "src/report/metric_title.hpp"

#include "src/support/text.hpp"

namespace pardec {

std::string metric_title(std::string_view key) {
  // Names of scores of single answers (score.metric) map to the names of their totals.
  if (key == "extractgpt_f1") key = "f1_micro";
  if (key == "strict_f1") key = "f1_strict";
  std::vector<std::string> words;
  for (const std::string& word : split(replace_all(std::string(key), "_at_", "@"), '_'))
    words.push_back(word == "f1"      ? "F1"
                    : word == "rouge" ? "ROUGE"
                    : word == "squad" ? "SQuAD"
                    : word == "l"     ? "L"
                                      : word);
  return join(words, " ");
}

}  // namespace pardec
