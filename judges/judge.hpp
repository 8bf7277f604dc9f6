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

/// What a protocol of judging is: how an answer is put before a judge, and what its reply says. A
/// judge may be a network behind a service, or a person. Pure functions; nothing here asks anybody.
namespace pardec {

/// One thing that was asked, and the answer to it.
struct JudgedField {
  std::string name, question;
  std::vector<std::string> references;
  std::string answer;  ///< empty: none was given
  std::string other;   ///< where two answers are compared: the baseline's
};

/// What is put before a judge: an example with its answer, or with the answers of two arms.
struct Subject {
  std::string category, text;
  std::vector<JudgedField> fields;
  /// Of a conversation the turn that is judged: a judge sees it and those before it. None: all
  /// fields together.
  std::optional<size_t> turn;
};

/// Which of two answers a judge is shown first.
enum class Order { method_first, baseline_first };

/// What a judge is asked, and of what form its reply has to be.
struct Inquiry {
  std::vector<chat::Message> messages;
  OrderedJson schema;
  std::string schema_name;
};

/// What was said of one field, or, where `field` is empty, of the whole subject.
struct JudgeVerdict {
  std::string field;
  std::string label;  ///< a class; of two answers "method", "baseline" or "tie"; may be empty
  double value = std::numeric_limits<double>::quiet_NaN();  ///< a grade; NaN: it has none
};

/// Verdicts, or why a reply holds none.
struct Reading {
  std::vector<JudgeVerdict> verdicts;
  std::string problem;
};

/// Whether a judge sees reference answers: where the subject is mathematics, reasoning or code, as
/// in MT-Bench; wherever there is one; or not.
enum class ShowReferences { automatically, always, never };

// What a protocol asks for.

/// One label or number for the whole answer, or for a turn of it.
struct GradeVerdict {
  std::vector<std::string> labels;  ///< empty: a number
  /// Between what a number lies, ends included; none: only the schema knows, and no person can be
  /// asked.
  struct Range {
    int least, most;
  };
  std::optional<Range> range;
};
/// A class for each field of an example.
struct ClassVerdict {
  std::vector<std::string> classes, right;  ///< `right`: those of right values
  /// Those that fit the field's answer.
  std::vector<std::string> (*fitting)(const JudgedField& field);
};
/// The better one of two answers, which are shown in both orders.
struct PreferenceVerdict {};

struct JudgeProtocol {
  std::string name, what;
  std::variant<GradeVerdict, ClassVerdict, PreferenceVerdict> verdict;
  /// The stored score that its verdicts become; empty: they become none.
  std::string score;
  Json record;       ///< name, wording and schema, for the record
  std::string hash;  ///< SHA-256 of the record
  /// What the subject lacks that the protocol needs; empty: nothing.
  std::function<std::string(const Subject&)> lacks;
  std::function<Inquiry(const Subject&, Order)> ask;
  std::function<Reading(const Subject&, Order, std::string_view reply)> read;
  /// The same inquiry once more, behind a reply that held no verdict.
  std::function<Inquiry(Inquiry, const std::string& reply, const std::string& problem)> ask_again;

  /// Null: it asks for another kind of verdict.
  template <typename Verdict>
  const Verdict* asks_for() const {
    return std::get_if<Verdict>(&verdict);
  }
  /// In which orders its answers are shown.
  std::vector<Order> orders() const {
    if (asks_for<PreferenceVerdict>()) return {Order::method_first, Order::baseline_first};
    return {Order::method_first};
  }
};

/// A protocol is asked so often for one verdict at most.
inline constexpr int kMostAsks = 2;

/// Names of the protocols that are built in.
const std::vector<std::string>& protocol_names();

/// One of those, or a template of the user's where `name` ends in ".json". ConfigError: there is
/// none of that name (with the near ones), or the file is no template.
JudgeProtocol find_protocol(const std::string& name,
                            ShowReferences references = ShowReferences::automatically);

}  // namespace pardec
