#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/prompt/job.hpp"
#include "src/support/wording.hpp"

namespace pardec {

/// A prompt file: the wording of a task. A line `[name]` begins a section; lines before the first
/// section are comments. Slots are in braces. A section that is missing is an empty text.
///   [system]         optional
///   [instruction]    {category} {fields} {context_count}
///   [shot]           {context} {field} {answer}
///   [context]        {n} (the context's number in the prompt, from 1) {text}
///   [field]          {asked}, or {name} {question}; and {choices} (see `lettered`)
///   [listed]         the slots of [field], or {entry}; only for json form. One prompt then asks
///                    for all fields: this section is written once for each field, after the
///                    field's context
///   [answer json], [answer value], [answer free]   how to answer in each form (see Form)
/// {asked} is the name of a field, its question, or both (see `asked`). {entry} is the field's key
/// in the JSON answer, followed by its question if it has one. A prompt file for a decoder that
/// makes its own requests (skeleton-of-thought) has other sections:
///   [skeleton]       {question}
///   [points]         {question} {skeleton}: the common beginning of the requests for points
///   [point]          {number}: the rest of the request for one point
struct PromptFile {
  std::string name;
  std::string content;  ///< the whole file; a run records its hash
  std::string system, instruction, shot, context, field, listed;
  std::string skeleton, points, point;
  std::map<Form, std::string> answer;  ///< for each form, its section [answer FORM]
};

/// Parses the text of a prompt file. `name`: the file's name. ConfigError, which names the file: a
/// section is unknown or occurs twice, or the file has neither [context] nor all of [skeleton],
/// [points] and [point]. Slots are not checked here.
PromptFile parse_prompt_file(std::string content, const std::string& name);

/// The choices as prompts show them: for each choice a line break, its letter, ". " and its text.
/// REQUIRES: at most kMostChoices choices.
std::string lettered(const std::vector<std::string>& choices);

/// The value of the slot {asked}: "NAME: QUESTION". A default name (nameless_key) before a question
/// is left out. If there is no question, the value is the name. `number`: the field's number in its
/// context, from 1.
std::string asked(const Field& field, size_t number);

/// The values of all slots of [field] and [listed], by the slots' names without braces. `number`:
/// see `asked`.
std::map<std::string, std::string> slots_of(const Field& field, size_t number);

/// Whether prompts of single fields show the choices with letters, i.e. [field] has the slot
/// {choices}. If not, the answer is the text of a choice, not its letter.
bool shows_choices(const PromptFile& prompt);

/// Whether the instruction has the slot {category} or {fields}, and so depends on the contexts.
bool speaks_of_category(const PromptFile& prompt);

/// The instruction with its slots filled. {category} is a list of the distinct categories of all
/// contexts. {fields} is a list of the distinct field names, each in quotes. The entries of both
/// lists are separated by commas. {context_count} is the number of contexts in one prompt: all of
/// them in json form, otherwise 1. ConfigError: the instruction has an unknown slot.
std::string instruction_for(const PromptFile& prompt, const std::vector<Context>& contexts,
                            Form form);

}  // namespace pardec
