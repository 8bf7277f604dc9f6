#pragma once
#include <map>
#include <string>
#include <vector>

#include "judges/wording.hpp"

/// How a subject is shown where answers are graded or compared: what was asked, what was said
/// before, references.
namespace pardec {

/// Whose answers a conversation is shown with.
enum class Shown { method, baseline };

/// Sections of a wording that these functions take:
///   [user]       {document} {conversation} (or {first} {second}) {reference} {opens} {closes}
///   [document]   {mark} {text}: what the user gave, where there is a text
///   [turn]       {mark} {question} {answer}: one turn of a conversation
///   [fields]     {mark} {fields} {values}: where fields were asked together
///   [reference]  {mark} {references}
std::vector<std::string> conversation_sections();

/// Slots document, reference, opens and closes.
std::map<std::string, std::string> shown_context(const Wording& wording, const Subject& subject,
                                                 const std::string& mark,
                                                 ShowReferences references);

/// The turns up to the one that is judged, or all fields.
std::string shown_conversation(const Wording& wording, const Subject& subject,
                               const std::string& mark, Shown shown);

}  // namespace pardec
