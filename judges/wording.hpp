#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "judges/judge.hpp"

/// How the built-in protocols put their prompts together.
namespace pardec {

/// A file of judges/prompts: its sections, and the whole for its hash.
struct Wording {
  std::string file, content;
  std::map<std::string, std::string> sections;

  /// ConfigError where the file has no such section, or a slot of it is not among the given.
  std::string filled(const std::string& section,
                     const std::map<std::string, std::string>& slots) const;
};

/// Reads judges/prompts/NAME.txt, which has these sections, and [system] and [again] besides.
Wording read_wording(const std::string& name, const std::vector<std::string>& sections);

/// A mark that none of these texts can hold but by intent and luck: part of their hash. What is
/// judged stands between marks of it, so that no answer can close its own.
std::string mark_of(const std::vector<std::string>& texts);
std::string mark_of(const Subject& subject);

/// All fields of a subject as an object of their answers, null where none was given; `other` of the
/// baseline's.
std::string answers_as_json(const Subject& subject, bool other);
/// A line a field: its name, and what is asked of it.
std::string fields_as_list(const Subject& subject);

/// Whether a judge sees the reference of the field.
bool shows_reference(const Subject& subject, const JudgedField& field, ShowReferences references);

/// "A", "B" or "tie" of a judge as "method", "baseline" or "tie".
std::string winner_label(const std::string& said, Order order);

/// An object of properties that are all required; judges write them in this order, so what they
/// explain stands before what they decide.
OrderedJson object_schema(const OrderedJson& properties);

/// The inquiry once more behind a reply that cannot be read, in the words of section [again].
Inquiry asked_again(const Wording& wording, Inquiry inquiry, const std::string& reply,
                    const std::string& problem);

/// A protocol whose record is complete: `ask_again` and `hash` are set from wording and record.
JudgeProtocol with_wording(JudgeProtocol protocol, const Wording& wording, const Json& schema);

}  // namespace pardec
