#include "src/chat/key.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec::chat {

Key::Key(const std::string& variable) {
  if (variable.empty()) return;
  const char* set = std::getenv(variable.c_str());
  if (!set || !*set)
    throw ConfigError(str("the environment has no ", variable,
                          ", expected the service's key in it ('key_env' names it)"));
  value_ = set;
  if (std::any_of(value_.begin(), value_.end(), [](char c) { return c <= ' ' || c > '~'; })) {
    value_.clear();
    throw ConfigError(
        str(variable, " holds characters that no key has (white space, a line's end)"));
  }
  ::prctl(PR_SET_DUMPABLE, 0);
}

std::string Key::redact(std::string text) const {
  constexpr std::string_view kMark = "[key]";
  constexpr std::size_t kLeast = 6;  // fewer characters say nothing
  constexpr std::size_t kShortestSecret = 8;
  if (value_.size() < kShortestSecret) return text;
  text = replace_all(std::move(text), value_, kMark);
  for (std::size_t count = value_.size() - 1; count >= kLeast; --count)
    if (text.ends_with(std::string_view(value_).substr(0, count)))
      return text.replace(text.size() - count, count, kMark);
  return text;
}

}  // namespace pardec::chat
