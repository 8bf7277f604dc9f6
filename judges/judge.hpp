#pragma once
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/chat/call.hpp"
#include "src/support/json.hpp"

/// Judging protocols. A protocol defines how an answer is shown to a judge, and how the judge's
/// reply is read. A judge is a network behind a service, or a person. Pure functions: nothing here
/// sends requests.
namespace pardec {

/// One field with its answer.
struct JudgedField {
  std::string name, question;
  std::vector<std::string> references;
  std::string answer;  ///< the answer; empty: there is none
  std::string other;   ///< for pairs: the baseline's answer
};

/// The item that is judged: an example with an answer, or with the answers of two arms.
struct Subject {
  std::string category, text;
  std::vector<JudgedField> fields;
  /// For a conversation: index of the turn to judge. The judge also sees the turns before it. None:
  /// all fields are judged together.
  std::optional<size_t> turn;
};

/// The order in which a judge sees two answers.
enum class Order { method_first, baseline_first };

/// The messages to a judge, and the required form of the reply.
struct Inquiry {
  std::vector<chat::Message> messages;
  OrderedJson schema;
  std::string schema_name;
};

/// A verdict on one field, or, if `field` is empty, on the whole subject.
struct JudgeVerdict {
  std::string field;
  std::string label;  ///< a label; for pairs "method", "baseline" or "tie"; may be empty
  double value = std::numeric_limits<double>::quiet_NaN();  ///< a grade; NaN: none
};

/// The verdicts in a reply, or, if there are none, the problem.
struct Reading {
  std::vector<JudgeVerdict> verdicts;
  std::string problem;
};

/// When a judge sees reference answers. automatically: in the categories mathematics, reasoning and
/// code, as in MT-Bench. always: whenever there is a reference.
enum class ShowReferences { automatically, always, never };

// Kinds of verdicts.

/// One label or number for an answer, or for one turn of an answer.
struct GradeVerdict {
  std::vector<std::string> labels;  ///< possible labels; empty: the verdict is a number
  /// The range of a number, including both ends. None: only the schema defines the range, and
  /// people cannot be judges.
  struct Range {
    int least, most;
  };
  std::optional<Range> range;
};
/// One of several classes for each field of an example.
struct ClassVerdict {
  std::vector<std::string> classes, right;  ///< right: the classes that mean a right value
  /// The classes that are possible for a field's answer.
  std::vector<std::string> (*fitting)(const JudgedField& field);
};
/// The better of two answers, which are shown in both orders.
struct PreferenceVerdict {};

struct JudgeProtocol {
  std::string name, what;
  std::variant<GradeVerdict, ClassVerdict, PreferenceVerdict> verdict;
  /// The metric of the scores that are computed from the verdicts; empty: none.
  std::string score;
  Json record;       ///< name, wording and schema, for the record of judgings
  std::string hash;  ///< SHA-256 of the record
  /// Returns what the subject lacks for this protocol; empty: nothing.
  std::function<std::string(const Subject&)> lacks;
  std::function<Inquiry(const Subject&, Order)> ask;
  std::function<Reading(const Subject&, Order, std::string_view reply)> read;
  /// Makes the inquiry for asking again after a reply without a verdict.
  std::function<Inquiry(Inquiry, const std::string& reply, const std::string& problem)> ask_again;

  /// The kind of verdict if it is this one; otherwise null.
  template <typename Verdict>
  const Verdict* asks_for() const {
    return std::get_if<Verdict>(&verdict);
  }
  /// The orders in which answers are shown.
  std::vector<Order> orders() const {
    if (asks_for<PreferenceVerdict>()) return {Order::method_first, Order::baseline_first};
    return {Order::method_first};
  }
};

/// The maximum number of requests for one verdict, including repeated ones.
inline constexpr int kMostAsks = 2;

/// The names of the built-in protocols.
const std::vector<std::string>& protocol_names();

/// Finds a built-in protocol by name, or reads a user's template if `name` ends with ".json".
/// ConfigError: there is no such protocol (the message suggests similar names), or the file is not
/// a valid template.
JudgeProtocol find_protocol(const std::string& name,
                            ShowReferences references = ShowReferences::automatically);

}  // namespace pardec
