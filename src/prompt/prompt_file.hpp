#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/prompt/job.hpp"
#include "src/support/wording.hpp"

namespace pardec {

/// The wording of a task, as a text file that can be reviewed, versioned, and hashed into the run.
/// A line `[name]` opens a section; lines before the first section are comments. Slots are in
/// braces.
///   [system]         optional
///   [instruction]    {category} {fields} {context_count}
///   [shot]           {context} {field} {answer}
///   [context]        {n} (1-based) {text}
///   [field]          {asked} or {name} {question}, and {choices} (each on a new line, lettered)
///   [listed]         the same, or {entry}; used if all fields are asked at once, next to the
///                    context (json form)
///   [answer json], [answer value], [answer free]   how to answer, one per form
/// {asked} is the question of a field: its name, its question or both. {entry} is the same after
/// the key of its answer. A prompt file with a decoder's own requests has other sections:
///   [skeleton]       {question}
///   [points]         {question} {skeleton}: the common beginning of all points' requests
///   [point]          {number}: the rest of each request
struct PromptFile {
  std::string name;
  std::string content;  ///< the whole file, for its hash
  std::string system, instruction, shot, context, field, listed;
  std::string skeleton, points, point;
  std::map<Form, std::string> answer;
};

/// ConfigError, with file and line: a section is unknown or repeated, or the file has neither
/// [context] nor one of the sections for a decoder's own requests.
PromptFile parse_prompt_file(std::string content, const std::string& name);

/// Choices as shown in prompts: each on a new line after its letter.
std::string lettered(const std::vector<std::string>& choices);

/// The text that asks for the `number`-th field of a context: "NAME: QUESTION". A name that was
/// generated (nameless_key) is left out, and so is an empty question.
std::string asked(const Field& field, size_t number);

/// The slots filled from a field.
std::map<std::string, std::string> slots_of(const Field& field, size_t number);

/// Whether the question of a single field shows its choices. Otherwise the choices themselves, not
/// their letters, are the possible answers.
bool shows_choices(const PromptFile& prompt);

/// Whether the instruction mentions the category, or its fields.
bool speaks_of_category(const PromptFile& prompt);

/// The instruction with its slots filled. {category} and {fields} become the distinct categories
/// and field names of all contexts, separated by commas. {context_count} becomes the number of
/// contexts in one prompt: all of them in json form, one in the other forms.
std::string instruction_for(const PromptFile& prompt, const std::vector<Context>& contexts,
                            Form form);

}  // namespace pardec
