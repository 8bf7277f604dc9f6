#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/prompt/job.hpp"

namespace pardec {

/// The wording of a task, as a text file: reviewable, versioned, hashed into the run. Lines
/// `[name]` open a section; lines before the first are comments. Slots stand in braces.
///   [system]         optional
///   [instruction]    {category} {fields} {context_count}
///   [shot]           {context} {field} {answer}
///   [context]        {n} (1-based) {text}
///   [field]          {name} {question} {choices} (each choice on a new line, lettered)
///   [listed]         the same, beside the context where all fields are asked at once (json form)
///   [answer json], [answer value], [answer free]   how to answer, one per form
struct PromptFile {
  std::string name;
  std::string content;  ///< the file as it is, for its hash
  std::string system, instruction, shot, context, field, listed;
  std::map<Form, std::string> answer;
};

/// ConfigError with file and line: unknown section, section given twice, [context] missing.
PromptFile parse_prompt_file(std::string content, const std::string& name);

/// Replaces `{slot}` by its value, once, from left to right: braces in a value stay. ConfigError
/// for a slot that is not among the given.
std::string fill(std::string_view wording, const std::map<std::string, std::string>& slots,
                 const std::string& where);

/// Choices as prompts show them: each on a new line behind its letter.
std::string lettered(const std::vector<std::string>& choices);

/// The instruction for contexts that share category and fields. One prompt shows all of them in
/// json form, one of them in the others, which {context_count} says.
std::string instruction_for(const PromptFile& prompt, const std::vector<Context>& contexts,
                            Form form);

}  // namespace pardec
