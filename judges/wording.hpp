#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "judges/judge.hpp"

/// The wordings of the built-in protocols, and the functions that compose prompts from them.
namespace pardec {

/// A file in judges/prompts: the wording of a protocol, or of a request for training data
/// (src/teaching).
struct Wording {
  std::string file, content;                    ///< path and whole text of the file
  std::map<std::string, std::string> sections;  ///< name -> text

  /// The text of a section with its slots filled. ConfigError: the file does not have this section,
  /// or the section has a slot that is not in `slots`.
  std::string filled(const std::string& section,
                     const std::map<std::string, std::string>& slots) const;
};

/// Reads judges/prompts/NAME.txt. `sections`: the sections that the file may have in addition to
/// [system] and [again]. ConfigError: the file has another section, or a section twice. DataError:
/// the file cannot be read.
Wording read_wording(const std::string& name, const std::vector<std::string>& sections);

/// A mark for these texts: 12 hexadecimal digits of a hash of the texts, so that the texts
/// practically never contain the mark. Judged texts are placed between marks, so that an answer
/// cannot end its own section.
std::string mark_of(const std::vector<std::string>& texts);
/// The mark for all texts of a subject.
std::string mark_of(const Subject& subject);

/// The answers to all fields as one JSON object; missing answers are null. `other`: whether to use
/// the baseline's answers.
std::string answers_as_json(const Subject& subject, bool other);
/// A list of all fields, with one line `- NAME: QUESTION` for each field.
std::string fields_as_list(const Subject& subject);

/// Whether a judge sees this field's reference.
bool shows_reference(const Subject& subject, const JudgedField& field, ShowReferences references);

/// Converts "A" (the answer shown first) or "B" in a judge's reply to "method" or "baseline"; "tie"
/// stays "tie". REQUIRES: `said` is one of these three.
std::string winner_label(const std::string& said, Order order);

/// The schema of an object with these properties (name -> schema), all of them required. Judges
/// write properties in this order, so put explanations before decisions.
OrderedJson object_schema(const OrderedJson& properties);

/// Returns `inquiry` with two more messages, for asking again after a reply without a verdict: the
/// reply, and section [again] with `problem` (Reading::problem). ConfigError: see Wording::filled.
Inquiry asked_again(const Wording& wording, Inquiry inquiry, const std::string& reply,
                    const std::string& problem);

/// Completes a protocol: sets `hash` and `ask_again`, and adds name, wording and schema to
/// `record`. A protocol without `lacks` gets a function that finds nothing lacking.
JudgeProtocol with_wording(JudgeProtocol protocol, const Wording& wording, const Json& schema);

}  // namespace pardec
