#pragma once
#include <string>
#include <string_view>

/// Finds the program in an answer to a programming task. Pure functions.
namespace pardec {

/// The code that a task of HumanEval-X (Python) provides: the imports of its evaluation, as far as
/// they are in Python's standard library, and the prompt (the head and docstring of a function,
/// after other functions that it may need).
std::string task_head(std::string_view prompt);

/// The Python code in an answer to `prompt`. The prompt ends with the head of the function to
/// write. These rules select the code (results/answers.md has examples):
///  - From fenced blocks (``` and ~~~ as in CommonMark, [PYTHON], <code>, LaTeX listings; also
///    nested, quoted, or inside a list) that are not marked as another language: the first block
///    that defines the function, after preceding blocks that contain only definitions. If no block
///    defines it, the first block that can be its body.
///  - Without such a block: the function's definition with the definitions directly before it, as
///    long as lines are code. Without a definition: the body, as long as lines are code.
/// The body of a function is indented as in the prompt. An answer without code is returned
/// unchanged.
std::string code_of(std::string_view prompt, std::string_view answer);

/// The complete program: task_head(prompt), then code_of(prompt, answer).
std::string task_program(std::string_view prompt, std::string_view answer);

}  // namespace pardec
