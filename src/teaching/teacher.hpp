#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judges/judge.hpp"

/// What a teacher is asked for, whose replies become training data, and how they are read.
namespace pardec {

/// To rewrite an answer into branches (ASPD paper, section 3.1).
Inquiry ask_rewrite(const std::string& question, const std::string& answer);

struct RewriteReading {
  std::string answer;  ///< in ASPD's markup, as the teacher wrote it; empty: nothing is parallel
  std::string problem;
};
RewriteReading read_rewrite(std::string_view reply);

/// A value that is wanted of a text; with choices it is one of them, else a piece of the text.
struct WantedValue {
  std::string name, question;
  std::vector<std::string> choices;
};

/// For the values of a text (HPD's pseudo-labels).
Inquiry ask_values(const std::string& category, const std::string& text,
                   const std::vector<WantedValue>& wanted);
Inquiry ask_values_again(Inquiry inquiry, const std::string& reply, const std::string& problem);

struct ValuesReading {
  std::vector<std::optional<std::string>> values;  ///< none: the text does not state it
  std::string problem;
};
/// Every value is checked: it stands in the text letter by letter, or is "none".
ValuesReading read_values(const std::string& text, const std::vector<WantedValue>& wanted,
                          std::string_view reply);

}  // namespace pardec
