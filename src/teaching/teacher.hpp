#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judges/judge.hpp"

/// The requests to a teacher (a chat service that makes training data), and functions that read its
/// replies.
namespace pardec {

/// Asks for a rewrite of an answer into branches (ASPD paper, section 3.1).
Inquiry ask_rewrite(const std::string& question, const std::string& answer);

struct RewriteReading {
  /// the answer in ASPD's markup, as the teacher wrote it; empty: no part can be parallel
  std::string answer;
  std::string problem;  ///< why the reply is not readable; empty: it is readable
};
/// Reads a reply to ask_rewrite.
RewriteReading read_rewrite(std::string_view reply);

/// A value to find in a text. It is one of the choices, or, if there are none, a part of the text.
struct WantedValue {
  std::string name, question;
  std::vector<std::string> choices;
};

/// Asks for the values of a text (HPD's pseudo-labels). `category`: the category of the text.
Inquiry ask_values(const std::string& category, const std::string& text,
                   const std::vector<WantedValue>& wanted);
/// The inquiry to send after a reply that is not readable. `inquiry`: the one that got `reply`.
/// `problem`: why the reply is not readable.
Inquiry ask_values_again(Inquiry inquiry, const std::string& reply, const std::string& problem);

struct ValuesReading {
  /// one per wanted value; none: the text does not state the value
  std::vector<std::optional<std::string>> values;
  std::string problem;  ///< why the reply is not readable (then `values` is empty); empty: it is
};
/// Reads the values in a reply. Each value must occur in the text literally, be one of the choices,
/// or be "none". Otherwise the reply is not readable.
ValuesReading read_values(const std::string& text, const std::vector<WantedValue>& wanted,
                          std::string_view reply);

}  // namespace pardec
