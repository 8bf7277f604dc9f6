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
  bool opened = false;  ///< whether the prompt ends inside the thinking, after an opening mark
  /// Whether thinking counts as part of the answer. Callers must check this flag: thought_of
  /// ignores it.
  bool keep = false;
};

/// The place of the thinking at the beginning of a text.
struct Thought {
  /// Length in bytes, from the beginning of the text to the end of the last closing mark that
  /// counts, or to the end of the text if `open`; 0: no thinking.
  std::size_t bytes = 0;
  bool open = false;  ///< whether the thinking has no end, so that the text contains no answer
};

/// Finds the thinking at the beginning of a text. The thinking ends with the last closing mark that
/// counts, so it may have more than one part, and text between the parts. The text is searched for
/// the first closing mark that counts, and then the rest of the text in the same way, and so on. A
/// closing mark counts in two cases:
/// - The matching opening mark precedes the closing mark, and is at the beginning of the searched
///   text or of a line.
/// - The matching opening mark does not precede the closing mark: the prompt may have opened the
///   thinking, or the thinking may have quoted its closing mark. If the searched text is JSON, such
///   a closing mark is part of a value and does not count. Exception: if the prompt opened the
///   thinking, the first closing mark counts even in JSON.
/// The whole text is thinking (Thought::open) if no closing mark counts, and the text begins with
/// an opening mark or the prompt opened the thinking. The whole text is also thinking if the rest
/// of the text, after the last closing mark that counts, begins with an opening mark.
Thought thought_of(std::string_view text, const ThoughtReading& reading = {});

/// The text after its thinking, without empty lines at its beginning; the first line keeps its
/// indentation. Empty if the thinking has no end. A text without thinking is returned unchanged.
std::string_view after_thought(std::string_view text, const Thought& thought);

/// Removes the marks that some model families write around the whole answer after their thinking:
/// <answer> (Hunyuan-A13B, DeepSeek-R1-Zero), <output> (Reflection), <|begin_of_solution|>
/// (OpenThinker), <|START_RESPONSE|> (Command A). The closing mark may be missing, since an answer
/// may be cut off. The result has no white space at its ends. If the text has no such marks, or has
/// text outside of them, the whole text is returned unchanged.
std::string_view answer_inside(std::string_view text);

}  // namespace pardec
