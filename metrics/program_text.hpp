#pragma once
#include <string>
#include <string_view>

/// Finds the program in an answer to a programming task. Pure functions.
namespace pardec {

/// The code before the answer to a task of HumanEval-X (Python): the imports of HumanEval-X's
/// evaluation (only modules of Python's standard library), then the prompt. The prompt is the head
/// and docstring of a function, possibly after helper functions.
std::string task_head(std::string_view prompt);

/// The Python code in an answer to `prompt`. The prompt ends with the head of the function to
/// write. Blocks are fenced with ``` or ~~~ (as in CommonMark); they may be nested, quoted, or
/// inside a list. In an answer without such fences, blocks are the texts between marks such as
/// [PYTHON] and [/PYTHON], <code> and </code>, or the marks of LaTeX listings. Blocks marked as
/// another language count only if no other block defines the function. The code is the first of
/// these that the answer has (results/answers.md has examples):
///  1. the first block that defines the function (not only as a stub). Earlier blocks that consist
///     of definitions are put in front of this block. Later blocks with definitions that this block
///     needs are appended.
///  2. the function's definition outside the blocks, with the adjacent definitions
///  3. the function's definition in an interactive session, in inline code, or in a JSON string
///  4. a body of the function that returns a value; it is indented as in the prompt
///  5. the first block that defines the function only as a stub
///  6. a body of the function that returns no value
/// An answer with none of these is returned unchanged if it has no fenced block; otherwise the
/// result is empty.
std::string code_of(std::string_view prompt, std::string_view answer);

/// The complete program: task_head(prompt), then code_of(prompt, answer). Lines "from __future__
/// import" of the code are moved to the beginning.
std::string task_program(std::string_view prompt, std::string_view answer);

}  // namespace pardec
