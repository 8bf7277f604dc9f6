#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Reasoning that a network writes before its answer, between marks such as <think> and </think>.
namespace pardec {

/// Mark before and mark after.
using ThoughtMarks = std::pair<std::string, std::string>;

/// Those of published families: <think> (Qwen3, DeepSeek-R1, SmolLM3, ...), [THINK] (Magistral),
/// <|START_THINKING|> (Command A), <seed:think> (Seed-OSS), <thought> (EXAONE Deep), and so on.
const std::vector<ThoughtMarks>& known_thought_marks();

/// Whether a token of this text is likely such a mark, also one of no known family.
bool names_thought(std::string_view token);

/// What is looked for in an answer.
struct ThoughtReading {
  std::vector<ThoughtMarks> marks = known_thought_marks();
  bool opened = false;  ///< the prompt ends inside a thought
  bool keep = false;    ///< a thought counts as part of the answer
};

/// The part of a text that is thought.
struct Thought {
  std::size_t bytes = 0;  ///< of the text's beginning, marks included
  bool open = false;      ///< it has no end, so that nothing of the text is an answer
};

/// The thought that a text begins with, or several one after the other. A closing mark without an
/// opening one ends a thought that the prompt opened, or one that spoke of its own end, but in
/// JSON, where it is a quotation. A later pair counts where its opening mark begins a line.
Thought thought_of(std::string_view text, const ThoughtReading& reading = {});

/// The text after its thought: without line breaks at its beginning; empty where the thought is
/// open.
std::string_view after_thought(std::string_view text, const Thought& thought);

/// What stands inside the marks that some families put around a whole answer after a thought:
/// <answer> (Hunyuan-A13B, DeepSeek-R1-Zero), <output> (Reflection), <|begin_of_solution|>
/// (OpenThinker), <|START_RESPONSE|> (Command A); also without a closing one, where the answer was
/// cut. The text itself where it has none, or more around them.
std::string_view answer_inside(std::string_view text);

}  // namespace pardec
