#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Reasoning that a network writes before its answer, between marks such as <think> and </think>.
namespace pardec {

/// Opening and closing mark.
using ThoughtMarks = std::pair<std::string, std::string>;

/// The marks of published families: <think> (Qwen3, DeepSeek-R1, SmolLM3, ...), [THINK]
/// (Magistral), <|START_THINKING|> (Command A), <seed:think> (Seed-OSS), <thought> (EXAONE Deep),
/// and so on.
const std::vector<ThoughtMarks>& known_thought_marks();

/// Whether a token with this text is probably such a mark, including marks of unknown families.
bool names_thought(std::string_view token);

/// How reasoning is recognised in an answer.
struct ThoughtReading {
  std::vector<ThoughtMarks> marks = known_thought_marks();
  bool opened = false;  ///< the prompt ends inside reasoning
  bool keep = false;    ///< reasoning counts as part of the answer
};

/// The part of a text that is reasoning.
struct Thought {
  std::size_t bytes = 0;  ///< length at the beginning of the text, marks included
  bool open = false;      ///< it has no end, so that no part of the text is an answer
};

/// The reasoning at the beginning of a text. It may consist of several consecutive parts. A closing
/// mark without an opening mark also ends reasoning: the prompt may have opened it, or the
/// reasoning may have quoted its own closing mark. In JSON, such a closing mark is a quotation and
/// does not count. A later pair of marks counts if its opening mark begins a line.
Thought thought_of(std::string_view text, const ThoughtReading& reading = {});

/// The text after its reasoning, without leading line breaks; empty if the reasoning has no end.
std::string_view after_thought(std::string_view text, const Thought& thought);

/// The text inside the marks that some families put around the whole answer after their reasoning:
/// <answer> (Hunyuan-A13B, DeepSeek-R1-Zero), <output> (Reflection), <|begin_of_solution|>
/// (OpenThinker), <|START_RESPONSE|> (Command A). The closing mark may be missing if the answer was
/// cut off. Returns the text itself if it has no such marks, or text outside of them.
std::string_view answer_inside(std::string_view text);

}  // namespace pardec
