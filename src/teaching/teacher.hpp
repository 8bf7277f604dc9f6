#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judges/judge.hpp"

/// The requests to a teacher (a network behind a chat service that makes training data), and
/// functions that read its replies. Errors of functions that return an Inquiry: see read_wording
/// and Wording::filled.
namespace pardec {

/// The inquiry for a rewrite of an answer into branches (paper of ASPD, arXiv:2508.08895, section
/// 3.1). `question`: the prompt of the answer.
Inquiry ask_rewrite(const std::string& question, const std::string& answer);

/// What read_rewrite finds in a reply.
struct RewriteReading {
  /// the answer in ASPD's markup, as the teacher wrote it; empty: the teacher says that no parts
  /// can be parallel, or there is a problem
  std::string answer;
  std::string problem;  ///< why the reply is not readable; empty: it is readable
};
/// Reads a reply to ask_rewrite.
RewriteReading read_rewrite(std::string_view reply);

/// A value to find in a text: one of the choices, or, if there are no choices, a part of the text.
struct WantedValue {
  std::string name, question;
  std::vector<std::string> choices;
};

/// The inquiry for the values of a text (HPD's pseudo-labels). `category`: the category of the
/// text.
Inquiry ask_values(const std::string& category, const std::string& text,
                   const std::vector<WantedValue>& wanted);
/// The inquiry to send after a reply that is not readable. `reply`: this reply, to `inquiry`.
/// `problem`: why the reply is not readable.
Inquiry ask_values_again(Inquiry inquiry, const std::string& reply, const std::string& problem);

/// What read_values finds in a reply.
struct ValuesReading {
  /// one for each wanted value, in the same order; none: the text does not state the value
  std::vector<std::optional<std::string>> values;
  /// why the reply is not readable (then `values` is empty); empty: the reply is readable
  std::string problem;
};
/// Reads the values in a reply to ask_values or ask_values_again. `text`, `wanted`: as in
/// ask_values. Each value must be "none", or one of the choices of the wanted value; without
/// choices, the value must occur literally in the text. Otherwise the reply is not readable.
ValuesReading read_values(const std::string& text, const std::vector<WantedValue>& wanted,
                          std::string_view reply);

}  // namespace pardec
