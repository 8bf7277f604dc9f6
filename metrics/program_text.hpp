#pragma once
#include <string>
#include <string_view>

/// Finds the program in an answer to a programming task. Pure functions.
namespace pardec {

/// The code that a task of HumanEval-X (Python) provides: the imports of its evaluation, limited to
/// Python's standard library, and the prompt (a function's head with its docstring, and preceding
/// functions that it may need).
std::string task_head(std::string_view prompt);

/// The Python code in an answer to `prompt`, whose last function is to be written. The code is
/// selected by these rules (cases of each rule are in results/answers.md):
///  - From fenced blocks (``` and ~~~ as in CommonMark, [PYTHON], <code>, LaTeX listings; also
///    nested, quoted, or inside a list) that are not marked as another language: the first block
///    that defines the function, after preceding blocks that contain only definitions. If no block
///    defines it, the first block that can be its body.
///  - Without such a block: the function's definition with the definitions directly before it, as
///    long as lines are code. Without a definition: the body, as long as lines are code.
/// A body is indented as in the prompt's function. Text without code is returned unchanged.
std::string code_of(std::string_view prompt, std::string_view answer);

/// The complete program: the head, and code_of the answer.
std::string task_program(std::string_view prompt, std::string_view answer);

}  // namespace pardec
