#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/prompt/job.hpp"
#include "src/support/wording.hpp"

namespace pardec {

/// The wording of a task, as a text file: reviewable, versioned, hashed into the run. Lines
/// `[name]` open a section; lines before the first are comments. Slots stand in braces.
///   [system]         optional
///   [instruction]    {category} {fields} {context_count}
///   [shot]           {context} {field} {answer}
///   [context]        {n} (1-based) {text}
///   [field]          {asked} or {name} {question}, and {choices} (each on a new line, lettered)
///   [listed]         the same, or {entry}, beside the context where all fields are asked at once
///                    (json form)
///   [answer json], [answer value], [answer free]   how to answer, one per form
/// {asked} is what a field asks, its name, its question or both; {entry} is the same behind the key
/// of its answer. A file of a decoder's own requests has other sections:
///   [skeleton]       {question}
///   [points]         {question} {skeleton}: what the requests of all points begin with
///   [point]          {number}: what each goes on with
struct PromptFile {
  std::string name;
  std::string content;  ///< the file as it is, for its hash
  std::string system, instruction, shot, context, field, listed;
  std::string skeleton, points, point;
  std::map<Form, std::string> answer;
};

/// ConfigError with file and line: unknown section, section given twice, [context] missing (or one
/// of a decoder's own).
PromptFile parse_prompt_file(std::string content, const std::string& name);

/// Choices as prompts show them: each on a new line behind its letter.
std::string lettered(const std::vector<std::string>& choices);

/// What the field asks, the `number`-th of its context: its question, its name where it has none,
/// and both where its name is not the one that nameless fields get.
std::string asked(const Field& field, size_t number);

/// The slots that a field fills.
std::map<std::string, std::string> slots_of(const Field& field, size_t number);

/// Whether the instruction is another one for contexts of another category.
bool speaks_of_category(const PromptFile& prompt);

/// The instruction for contexts that share category and fields, where it speaks of them
/// (else all of them are named). One prompt shows all of them in json form, one of them in the
/// others, which {context_count} says.
std::string instruction_for(const PromptFile& prompt, const std::vector<Context>& contexts,
                            Form form);

}  // namespace pardec
