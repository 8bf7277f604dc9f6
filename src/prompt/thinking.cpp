#include "src/prompt/thinking.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The opening mark for a closing one; empty if `close` is not a closing mark.
std::string opening_of(std::string_view close) {
  std::string open(close);
  if (const std::size_t slash = open.find('/'); slash != std::string::npos) {
    open.erase(slash, 1);
    return open;
  }
  for (const auto& [end, begin] : {std::pair{"END_", "START_"}, std::pair{"end_of_", "begin_of_"},
                                   std::pair{"end_", "start_"}, std::pair{"_end", "_start"}})
    if (const std::size_t at = open.find(end); at != std::string::npos)
      return open.replace(at, std::string_view(end).size(), begin);
  return {};
}

void add(std::vector<ThoughtMarks>& marks, std::string open, std::string close) {
  ThoughtMarks pair{std::move(open), std::move(close)};
  if (std::find(marks.begin(), marks.end(), pair) == marks.end()) marks.push_back(std::move(pair));
}

/// The quoted texts at which a template splits messages.
std::vector<std::string> split_at(std::string_view text) {
  std::vector<std::string> found;
  constexpr std::string_view kSplit = "split(";
  for (std::size_t at = text.find(kSplit); at != std::string_view::npos;
       at = text.find(kSplit, at + 1)) {
    const std::size_t begin = text.find_first_not_of(" \t\n", at + kSplit.size());
    if (begin == std::string_view::npos) break;
    const char quote = text[begin];
    if (quote != '\'' && quote != '"') continue;
    const std::size_t end = text.find(quote, begin + 1);
    if (end == std::string_view::npos) break;
    found.emplace_back(text.substr(begin + 1, end - begin - 1));
  }
  return found;
}

/// Whether a tag marks something other than reasoning.
bool marks_other(std::string_view tag) {
  for (const char* word : {"tool", "function", "answer", "response", "im_", "assistant", "user"})
    if (tag.find(word) != std::string_view::npos) return true;
  return false;
}

std::vector<ThoughtMarks> marks_of(const ChatTemplate& chat, const Tokenizer* tokenizer) {
  std::vector<ThoughtMarks> marks = known_thought_marks();
  for (const std::string& close : split_at(chat.text()))
    if (std::string open = opening_of(close);
        !open.empty() && std::string_view("<[\xE2").find(close[0]) != std::string_view::npos &&
        !marks_other(close) && chat.text().find(open) != std::string::npos)
      add(marks, std::move(open), close);
  if (!tokenizer) return marks;
  for (Token id = 0; id < tokenizer->vocab_size(); ++id) {
    const std::string_view close = tokenizer->token(id);
    if (close.size() < 5 || (close[0] != '<' && close[0] != '[') || !names_thought(close)) continue;
    if (std::string open = opening_of(close); !open.empty() && tokenizer->id(open))
      add(marks, std::move(open), std::string(close));
  }
  return marks;
}

/// Whether a prompt of the template ends inside reasoning.
bool opens_thought(const ChatTemplate& chat, const std::vector<ThoughtMarks>& marks) {
  std::string after;
  try {
    after = chat.open_turn({{"user", "x"}}).after;
  } catch (const ConfigError&) {
    return false;  // the caller that renders a prompt gets the reason
  }
  return std::any_of(marks.begin(), marks.end(), [&](const ThoughtMarks& pair) {
    const std::size_t open = after.rfind(pair.first), close = after.rfind(pair.second);
    return open != std::string::npos && (close == std::string::npos || close < open);
  });
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// The variables that a template's statements and expressions read, in order, without members and
/// texts.
std::vector<std::string> names_read(std::string_view text) {
  std::vector<std::string> names;
  std::size_t at = 0;
  while ((at = text.find('{', at)) != std::string_view::npos && at + 1 < text.size()) {
    if (text[at + 1] != '%' && text[at + 1] != '{') {
      ++at;
      continue;
    }
    const char closing = text[at + 1] == '%' ? '%' : '}';
    for (at += 2; at + 1 < text.size() && !(text[at] == closing && text[at + 1] == '}');) {
      if (text[at] == '\'' || text[at] == '"') {
        const std::size_t end = text.find(text[at], at + 1);
        at = end == std::string_view::npos ? text.size() : end + 1;
      } else if (is_name(text[at])) {
        const std::size_t begin = at;
        while (at < text.size() && is_name(text[at])) ++at;
        if (text[begin - 1] != '.') names.emplace_back(text.substr(begin, at - begin));
      } else {
        ++at;
      }
    }
  }
  return names;
}

/// The value of this variable that turns reasoning off; nothing if the variable has another
/// purpose.
std::optional<std::string> value_without_thought(const std::string& name) {
  const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
  if (!has("think") && !has("reason")) return std::nullopt;
  if (has("content") || has("last") || has("keep") || has("preserve") || has("history") ||
      has("truncat") || has("strip") || has("prefix") || has("token") || has("start") ||
      has("end_") || has("_end") || has("text") || has("tag"))
    return std::nullopt;
  if (has("disable") || has("skip") || has("no_")) return "true";
  if (has("budget")) return "0";
  if (has("effort")) return "none";
  if (has("mode")) return "off";
  return "false";
}

}  // namespace

Thinking parse_thinking(const std::string& text) {
  if (text == "keep") return Thinking::keep;
  if (text == "strip") return Thinking::strip;
  if (text == "off") return Thinking::off;
  throw ConfigError(str("`thinking` is '", text, "', expected keep, strip or off"));
}

ThoughtReading thought_reading(const ChatTemplate& chat, const Tokenizer* tokenizer,
                               Thinking thinking) {
  ThoughtReading reading;
  reading.marks = marks_of(chat, tokenizer);
  reading.opened = opens_thought(chat, reading.marks);
  reading.keep = thinking == Thinking::keep;
  return reading;
}

std::string setting_without_thought(const ChatTemplate& chat,
                                    const std::vector<std::string>& settings) {
  if (!chat.name().starts_with("checkpoint")) return {};  // its own, or checkpoint:NAME
  for (const bool plain : {true, false})  // enable_thinking takes precedence over reasoning_effort
    for (const std::string& name : names_read(chat.text())) {
      const auto value = value_without_thought(name);
      if (!value || (plain && *value != "false" && *value != "true")) continue;
      const bool given = std::any_of(settings.begin(), settings.end(), [&](const auto& setting) {
        return setting.starts_with(name + "=");
      });
      return given ? "" : str(name, "=", *value);
    }
  const auto marks = marks_of(chat, nullptr);
  if (std::none_of(marks.begin(), marks.end(), [&](const ThoughtMarks& pair) {
        return chat.text().find(pair.first) != std::string::npos ||
               chat.text().find(pair.second) != std::string::npos;
      }))
    return {};
  throw ConfigError(
      "`thinking=off`: the checkpoint's chat template marks thought, but reads no variable that "
      "turns it off, such as enable_thinking; `chat_set` sets another one, `thinking=strip` reads "
      "what follows the thought");
}

}  // namespace pardec
