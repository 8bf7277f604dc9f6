#pragma once
#include <map>
#include <string>
#include <vector>

#include "judges/wording.hpp"

/// How a subject is shown if answers are graded or compared: questions, earlier turns, references.
namespace pardec {

/// Whose answers are shown in a conversation.
enum class Shown { method, baseline };

/// Sections of a wording that these functions use:
///   [user]       {document} {conversation} (or {first} {second}) {reference} {opens} {closes}
///   [document]   {mark} {text}: the user's text, if there is one
///   [turn]       {mark} {question} {answer}: one turn of a conversation
///   [fields]     {mark} {fields} {values}: for fields that were asked together
///   [reference]  {mark} {references}
std::vector<std::string> conversation_sections();

/// The text for the slots {document} and {reference}, and for {opens} and {closes}, the marks
/// around the verdict in a reply.
std::map<std::string, std::string> shown_context(const Wording& wording, const Subject& subject,
                                                 const std::string& mark,
                                                 ShowReferences references);

/// The turns up to the judged one, or all fields.
std::string shown_conversation(const Wording& wording, const Subject& subject,
                               const std::string& mark, Shown shown);

}  // namespace pardec
