#pragma once
#include <string>
#include <string_view>

/// The program in an answer to a programming task. Pure functions.
namespace pardec {

/// What the text of a task of HumanEval-X (Python) defines by itself: the modules that its
/// evaluation imports, as far as they come with Python; the prompt (a function's head with its
/// docstring, and functions before it that it may need).
std::string task_head(std::string_view prompt);

/// The Python in an answer to `prompt`, whose last function is to be written. Which part of the
/// answer that is (each rule has its cases in results/answers.md):
///  - of fenced blocks (``` and ~~~ as CommonMark has them, [PYTHON], <code>, LaTeX listings, also
///    nested, quoted, or inside a list) that are not marked as another language: the first that
///    defines the function, after the blocks before it that hold definitions alone; where none
///    defines it, the first that can be its body;
///  - without such a block: from the function's definition on, with the definitions just before it,
///    as long as lines are code; without a definition the body, as long as lines are code.
/// A body is indented as the prompt's function is. Text that holds no code comes back as it is.
std::string code_of(std::string_view prompt, std::string_view answer);

/// The program that an answer makes of it: the head, and code_of the answer.
std::string task_program(std::string_view prompt, std::string_view answer);

}  // namespace pardec
