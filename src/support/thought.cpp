#include "src/support/thought.hpp"

#include <algorithm>

#include "src/support/text.hpp"

namespace pardec {

const std::vector<ThoughtMarks>& known_thought_marks() {
  static const std::vector<ThoughtMarks> kMarks{
      {"<think>", "</think>"},
      {"<thinking>", "</thinking>"},
      {"<thought>", "</thought>"},
      {"<reasoning>", "</reasoning>"},
      {"<seed:think>", "</seed:think>"},
      {"[THINK]", "[/THINK]"},
      {"\xE2\x97\x81think\xE2\x96\xB7", "\xE2\x97\x81/think\xE2\x96\xB7"},  // Kimi-VL
      {"<|START_THINKING|>", "<|END_THINKING|>"},
      {"<|begin_of_thought|>", "<|end_of_thought|>"},
      {"<|inner_prefix|>", "<|inner_suffix|>"},                 // Apertus
      {"Here is my thought process:", "Here is my response:"},  // Granite 3.2
      {"Here's my thought process:", "Here's my response:"},
  };
  return kMarks;
}

bool names_thought(std::string_view token) {
  if (token.size() < 5 || std::string_view("<[").find(token[0]) == std::string_view::npos)
    return std::any_of(
        known_thought_marks().begin(), known_thought_marks().end(),
        [&](const auto& marks) { return marks.first == token || marks.second == token; });
  const std::string lower = lower_ascii(std::string(token));
  for (const char* word : {"think", "thought", "reason", "reflect", "scratchpad", "inner_"})
    if (lower.find(word) != std::string::npos) return true;
  return false;
}

Thought thought_of(std::string_view text, const ThoughtReading& reading) {
  constexpr auto kNone = std::string_view::npos;
  const auto begins_line = [&](std::size_t at) {
    const std::size_t before = text.substr(0, at).find_last_not_of(" \t");
    return before == kNone || text[before] == '\n';
  };
  const auto is_json = [&](std::size_t at) {
    const std::string_view bare = strip(text.substr(at));
    return bare.starts_with('{') || bare.starts_with('[');
  };
  const bool json = is_json(0);
  Thought thought;
  for (bool first = true;; first = false) {
    const std::size_t from = thought.bytes;
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n", from), text.size());
    std::size_t end = kNone;
    bool leading = first && reading.opened;
    for (const auto& [open_mark, close_mark] : reading.marks) {
      const std::size_t open = text.find(open_mark, from), close = text.find(close_mark, from);
      leading = leading || (open == begin && open != kNone);
      if (close == kNone) continue;
      const bool pair = open != kNone && open < close && (open == begin || begins_line(open));
      // Reasoning may mention its own closing mark.
      const bool opened = close < open && (first ? reading.opened || !json : !is_json(from));
      if (pair || opened) end = std::min(end, close + close_mark.size());
    }
    if (end == kNone) {
      if (!leading) return thought;
      return {text.size(), true};
    }
    thought.bytes = end;
  }
}

std::string_view answer_inside(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
      {"<answer>", "</answer>"},
      {"<output>", "</output>"},
      {"<|begin_of_solution|>", "<|end_of_solution|>"},
      {"<|START_RESPONSE|>", "<|END_RESPONSE|>"},
  };
  const std::string_view bare = strip(text);
  for (const auto& [open, close] : kMarks) {
    if (!bare.starts_with(open)) continue;
    const std::size_t end = bare.find(close);
    if (end == std::string_view::npos) return strip(bare.substr(open.size()));
    if (end + close.size() == bare.size())
      return strip(bare.substr(open.size(), end - open.size()));
  }
  return text;
}

std::string_view after_thought(std::string_view text, const Thought& thought) {
  if (thought.open) return {};
  text.remove_prefix(std::min(thought.bytes, text.size()));
  if (thought.bytes == 0) return text;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  const std::size_t line = text.substr(0, begin).rfind('\n');
  return text.substr(line == std::string_view::npos ? 0 : line + 1);
}

}  // namespace pardec
