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

/// A judging protocol defines how an answer is shown to a judge, and how the reply is read. A judge
/// may be a network behind a service, or a person. Pure functions; nothing here sends requests.
namespace pardec {

/// One question, and the answer to it.
struct JudgedField {
  std::string name, question;
  std::vector<std::string> references;
  std::string answer;  ///< empty: there is no answer
  std::string other;   ///< for pairs: the baseline's answer
};

/// The item shown to a judge: an example with its answer, or with the answers of two arms.
struct Subject {
  std::string category, text;
  std::vector<JudgedField> fields;
  /// For a conversation: the turn to judge; the judge also sees the turns before it. None: all
  /// fields are judged together.
  std::optional<size_t> turn;
};

/// Which of two answers a judge sees first.
enum class Order { method_first, baseline_first };

/// The messages to a judge, and the required form of the reply.
struct Inquiry {
  std::vector<chat::Message> messages;
  OrderedJson schema;
  std::string schema_name;
};

/// The verdict on one field or, if `field` is empty, on the whole subject.
struct JudgeVerdict {
  std::string field;
  std::string label;  ///< a class; for pairs "method", "baseline" or "tie"; may be empty
  double value = std::numeric_limits<double>::quiet_NaN();  ///< a grade; NaN: there is none
};

/// Verdicts, or why a reply contains none.
struct Reading {
  std::vector<JudgeVerdict> verdicts;
  std::string problem;
};

/// Whether a judge sees reference answers. automatically: for mathematics, reasoning and code, as
/// in MT-Bench. always: whenever there is a reference.
enum class ShowReferences { automatically, always, never };

// Kinds of verdicts.

/// One label or number for the whole answer, or for one turn of it.
struct GradeVerdict {
  std::vector<std::string> labels;  ///< empty: a number
  /// The range of a number, including its ends; none: only the schema defines the range, and people
  /// cannot be asked.
  struct Range {
    int least, most;
  };
  std::optional<Range> range;
};
/// A class for each field of an example.
struct ClassVerdict {
  std::vector<std::string> classes, right;  ///< `right`: the classes of right values
  /// The classes that are possible for the field's answer.
  std::vector<std::string> (*fitting)(const JudgedField& field);
};
/// The better one of two answers, which are shown in both orders.
struct PreferenceVerdict {};

struct JudgeProtocol {
  std::string name, what;
  std::variant<GradeVerdict, ClassVerdict, PreferenceVerdict> verdict;
  /// Name of the stored score that the protocol's verdicts determine; empty: none.
  std::string score;
  Json record;       ///< name, wording and schema, to be recorded
  std::string hash;  ///< SHA-256 of the record
  /// Names what the protocol needs but the subject lacks; empty: the subject has everything.
  std::function<std::string(const Subject&)> lacks;
  std::function<Inquiry(const Subject&, Order)> ask;
  std::function<Reading(const Subject&, Order, std::string_view reply)> read;
  /// The inquiry repeated after a reply without a verdict.
  std::function<Inquiry(Inquiry, const std::string& reply, const std::string& problem)> ask_again;

  /// Null: the protocol has another kind of verdict.
  template <typename Verdict>
  const Verdict* asks_for() const {
    return std::get_if<Verdict>(&verdict);
  }
  /// The orders in which its answers are shown.
  std::vector<Order> orders() const {
    if (asks_for<PreferenceVerdict>()) return {Order::method_first, Order::baseline_first};
    return {Order::method_first};
  }
};

/// The maximum number of requests for one verdict.
inline constexpr int kMostAsks = 2;

/// Names of the built-in protocols.
const std::vector<std::string>& protocol_names();

/// A built-in protocol, or a user's template if `name` ends in ".json". ConfigError: there is no
/// such protocol (with similar names), or the file is not a valid template.
JudgeProtocol find_protocol(const std::string& name,
                            ShowReferences references = ShowReferences::automatically);

}  // namespace pardec
