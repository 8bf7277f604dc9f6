#pragma once
#include <map>
#include <string>
#include <vector>

#include "judges/wording.hpp"

/// The text that shows a subject to a judge, for the protocols `single` and `pairwise`: questions,
/// earlier turns, answers and references.
namespace pardec {

/// The arm whose answers are shown.
enum class Shown { method, baseline };

/// The names of the sections of a wording that these functions use:
///   [user]       {document} {conversation} {reference} {opens} {closes}; for pairs, {first} and
///                {second} replace {conversation}
///   [document]   {mark} {text}: the example's text, if there is one
///   [turn]       {mark} {question} {answer}: one turn of a conversation
///   [fields]     {mark} {fields} {values}: for fields that were asked together
///   [reference]  {mark} {references}
std::vector<std::string> conversation_sections();

/// The values of the slots {document}, {reference}, {opens} and {closes}. {opens} and {closes} are
/// the marks around the verdict in a reply. `mark`: see mark_of. ConfigError: see Wording::filled.
std::map<std::string, std::string> shown_context(const Wording& wording, const Subject& subject,
                                                 const std::string& mark,
                                                 ShowReferences references);

/// The value of the slot {conversation} (or {first}, {second}): the turns up to and including the
/// judged turn, or, without Subject::turn, all fields. The answers are from the arm `shown`.
/// `mark`: see mark_of. ConfigError: see Wording::filled.
std::string shown_conversation(const Wording& wording, const Subject& subject,
                               const std::string& mark, Shown shown);

}  // namespace pardec
