#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Thinking: the reasoning that a network writes before its answer, between marks such as <think>
/// and </think>.
namespace pardec {

/// (opening mark, closing mark)
using ThoughtMarks = std::pair<std::string, std::string>;

/// The marks of published model families: <think> (Qwen3, DeepSeek-R1, SmolLM3, ...), [THINK]
/// (Magistral), <|START_THINKING|> (Command A), <seed:think> (Seed-OSS), <thought> (EXAONE Deep),
/// and others.
const std::vector<ThoughtMarks>& known_thought_marks();

/// Whether a token with this text is probably a mark of thinking, even of an unknown model family.
bool names_thought(std::string_view token);

/// How thinking is recognised in an answer.
struct ThoughtReading {
  std::vector<ThoughtMarks> marks = known_thought_marks();
  bool opened = false;  ///< the prompt ends after an opening mark
  bool keep = false;    ///< thinking counts as part of the answer
};

/// The thinking at the beginning of a text.
struct Thought {
  std::size_t bytes = 0;  ///< length of the thinking in bytes, including marks; 0: no thinking
  bool open = false;      ///< the thinking has no end, so the text contains no answer
};

/// Finds the thinking at the beginning of a text. It may consist of several consecutive parts. A
/// closing mark without an opening mark also ends thinking: the prompt may have opened it, or the
/// thinking may have quoted its closing mark. In JSON, such a closing mark is part of a value and
/// does not count. A later pair of marks counts if its opening mark is at the beginning of a line.
Thought thought_of(std::string_view text, const ThoughtReading& reading = {});

/// The text after its thinking, without line breaks at its beginning; empty if the thinking has no
/// end.
std::string_view after_thought(std::string_view text, const Thought& thought);

/// Removes the marks that some model families write around the whole answer after their thinking:
/// <answer> (Hunyuan-A13B, DeepSeek-R1-Zero), <output> (Reflection), <|begin_of_solution|>
/// (OpenThinker), <|START_RESPONSE|> (Command A). The closing mark may be missing, since an answer
/// may be cut off. The result has no white space at its ends. If the text has no such marks, or has
/// text outside of them, the whole text is returned unchanged.
std::string_view answer_inside(std::string_view text);

}  // namespace pardec
