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
///   [user]       {document} {conversation} (or {first} {second}) {reference} {opens} {closes}
///   [document]   {mark} {text}: the example's text, if there is one
///   [turn]       {mark} {question} {answer}: one turn of a conversation
///   [fields]     {mark} {fields} {values}: for fields that were asked together
///   [reference]  {mark} {references}
std::vector<std::string> conversation_sections();

/// The values of the slots {document}, {reference}, {opens} and {closes}. The last two are the
/// marks around the verdict in a reply.
std::map<std::string, std::string> shown_context(const Wording& wording, const Subject& subject,
                                                 const std::string& mark,
                                                 ShowReferences references);

/// The value of the slot {conversation}: the turns up to the judged one, or all fields.
std::string shown_conversation(const Wording& wording, const Subject& subject,
                               const std::string& mark, Shown shown);

}  // namespace pardec
