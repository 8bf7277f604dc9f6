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
  std::string name, question;           ///< ExampleField::name and question
  std::vector<std::string> references;  ///< the accepted answers; empty: there are none
  std::string answer;                   ///< the answer to judge; empty: there is none
  std::string other;                    ///< for pairs: the baseline's answer
};

/// The item that is judged: an example with an answer, or with the answers of two arms.
struct Subject {
  std::string category, text;  ///< of the example
  std::vector<JudgedField> fields;
  /// For open answers: index of the turn to judge (0 if there is a single prompt). The judge also
  /// sees the turns before it. None: all fields are judged together.
  std::optional<size_t> turn;
};

/// The order in which a judge sees two answers.
enum class Order { method_first, baseline_first };

/// The messages to a judge, and the required form of the reply.
struct Inquiry {
  std::vector<chat::Message> messages;
  OrderedJson schema;       ///< the JSON schema of the reply, for services that enforce schemas
  std::string schema_name;  ///< the schema's name in the request
};

/// A verdict on one field, or, if `field` is empty, on the whole subject.
struct JudgeVerdict {
  std::string field;
  /// The label; for pairs "method", "baseline" or "tie". Empty: the verdict is only a number.
  std::string label;
  /// The grade or the label's number. NaN: the verdict is only a label.
  double value = std::numeric_limits<double>::quiet_NaN();
};

/// The verdicts in a reply. If the reply has no valid verdict, `verdicts` is empty, and `problem`
/// says why; otherwise `problem` is empty.
struct Reading {
  std::vector<JudgeVerdict> verdicts;
  std::string problem;
};

/// When a judge sees reference answers.
enum class ShowReferences {
  automatically,  ///< in MT-Bench's categories math, reasoning and coding
  always,         ///< whenever there is a reference
  never
};

// Kinds of verdicts.

/// One label or number for an answer, or for one turn of an answer.
struct GradeVerdict {
  /// The possible labels. Empty: the verdict is a number, or true (1) or false (0).
  std::vector<std::string> labels;
  struct Range {
    int least, most;
  };
  /// The range of a number, including both ends. None: the verdict is a label, true or false, or a
  /// number whose range only the schema of a template defines. People cannot give verdicts of the
  /// last kind.
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

/// A protocol: its kind of verdict, and the functions that make inquiries and read replies.
struct JudgeProtocol {
  std::string name;
  std::string what;  ///< a short description
  /// The kind of verdict.
  std::variant<GradeVerdict, ClassVerdict, PreferenceVerdict> verdict;
  /// The name of the metric whose scores are computed from the verdicts. Empty: no scores are
  /// computed.
  std::string score;
  Json record;       ///< name, wording, schema and options, for the record of judgings
  std::string hash;  ///< SHA-256 of the record
  /// Returns what the subject lacks for this protocol, as the end of a sentence "they lack ...";
  /// empty: nothing.
  std::function<std::string(const Subject&)> lacks;
  /// Makes the inquiry about a subject. The order is only used for pairs. ConfigError: see
  /// Wording::filled. REQUIRES: the subject lacks nothing.
  std::function<Inquiry(const Subject&, Order)> ask;
  /// Reads the reply to the inquiry that `ask` made with the same subject and order.
  std::function<Reading(const Subject&, Order, std::string_view reply)> read;
  /// Makes the inquiry for asking again after a reply without a verdict. The arguments are the
  /// inquiry to which the judge gave this reply, the reply, and Reading::problem of the reply.
  std::function<Inquiry(Inquiry, const std::string& reply, const std::string& problem)> ask_again;

  /// The member `verdict` if it has the type `Verdict`; otherwise null.
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

/// The maximum number of requests for one verdict, including the requests that ask again
/// (JudgeProtocol::ask_again).
inline constexpr int kMostAsks = 2;

/// The names of the built-in protocols.
const std::vector<std::string>& protocol_names();

/// Finds a built-in protocol by name, or reads a user's template if `name` ends with ".json".
/// `references` has an effect on `single` and `pairwise` only. ConfigError: there is no such
/// protocol (the message suggests similar names), or the file is not a valid template. DataError:
/// the file cannot be read, or is not JSON.
JudgeProtocol find_protocol(const std::string& name,
                            ShowReferences references = ShowReferences::automatically);

}  // namespace pardec
