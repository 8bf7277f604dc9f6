#pragma once
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
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

struct JudgeProtocol {
  std::string name, what;
  bool compares = false;  ///< two answers, in both orders
  bool by_field = false;  ///< a verdict for each field of an example, rather than one
  /// The stored score that its verdicts become; empty: they become none.
  std::string score;
  std::vector<std::string> scale;  ///< its labels from worse to better; empty: it gives numbers
  /// Those of its scale that fit the field's answer; not set: all.
  std::function<std::vector<std::string>(const JudgedField&)> labels;
  Json record;       ///< name, wording and schema, for the record
  std::string hash;  ///< SHA-256 of the record
  /// What the subject lacks that the protocol needs; empty: nothing.
  std::function<std::string(const Subject&)> lacks;
  std::function<Inquiry(const Subject&, Order)> ask;
  std::function<Reading(const Subject&, Order, std::string_view reply)> read;
  /// The same inquiry once more, behind a reply that held no verdict.
  std::function<Inquiry(Inquiry, const std::string& reply, const std::string& problem)> ask_again;
};

/// A protocol is asked so often for one verdict at most.
inline constexpr int kMostAsks = 2;

/// Names of the protocols that are built in.
const std::vector<std::string>& protocol_names();

/// One of those, or a template of the user's where `name` ends in ".json". ConfigError: there is
/// none of that name (with the near ones), or the file is no template.
JudgeProtocol find_protocol(const std::string& name,
                            ShowReferences references = ShowReferences::automatically);

/// A verdict as a number, for statistics over votes: its value, or the place of its label on the
/// scale.
double number_of(const JudgeProtocol& protocol, const JudgeVerdict& verdict);

}  // namespace pardec
