#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "judges/judge.hpp"

/// Composes the prompts of the built-in protocols.
namespace pardec {

/// A file of judges/prompts: its sections, and the whole text for its hash.
struct Wording {
  std::string file, content;
  std::map<std::string, std::string> sections;

  /// ConfigError: the file does not have this section, or the section has an unknown slot.
  std::string filled(const std::string& section,
                     const std::map<std::string, std::string>& slots) const;
};

/// Reads judges/prompts/NAME.txt, which must have these sections, and [system] and [again].
Wording read_wording(const std::string& name, const std::vector<std::string>& sections);

/// A mark that these texts cannot be expected to contain, since it is a part of their own hash.
/// Judged texts are placed between such marks, so that an answer cannot end its own section.
std::string mark_of(const std::vector<std::string>& texts);
std::string mark_of(const Subject& subject);

/// The answers to all fields of a subject as one object, null for missing answers; `other`: the
/// baseline's answers.
std::string answers_as_json(const Subject& subject, bool other);
/// One line per field: its name and question.
std::string fields_as_list(const Subject& subject);

/// Whether a judge sees the reference of this field.
bool shows_reference(const Subject& subject, const JudgedField& field, ShowReferences references);

/// Converts a judge's "A", "B" or "tie" to "method", "baseline" or "tie".
std::string winner_label(const std::string& said, Order order);

/// An object schema whose properties are all required. Judges write them in this order, so
/// explanations precede decisions.
OrderedJson object_schema(const OrderedJson& properties);

/// The inquiry repeated after a reply that cannot be read, with the words of section [again].
Inquiry asked_again(const Wording& wording, Inquiry inquiry, const std::string& reply,
                    const std::string& problem);

/// Completes a protocol: sets `ask_again` and `hash` from wording and record.
JudgeProtocol with_wording(JudgeProtocol protocol, const Wording& wording, const Json& schema);

}  // namespace pardec
