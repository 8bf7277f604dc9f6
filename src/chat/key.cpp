#include "src/chat/key.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <system_error>

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

namespace {

/// Maximum number of times that a text was escaped as a JSON string, e.g. an error that quotes a
/// body that quotes the key.
constexpr int kMostLevels = 3;

/// The length of one spelling of `c` at the beginning of a text that was escaped `level` times; 0:
/// the text does not begin with `c`. `cut`: the text ends within the spelling.
std::size_t spelled(std::string_view text, char c, int level, bool& cut) {
  cut = false;
  if (level == 0) return text.starts_with(c) ? 1 : 0;
  // number of backslashes before an escaped character
  const std::size_t escape = (std::size_t{1} << level) - 1;
  std::size_t run = 0;
  while (run < text.size() && text[run] == '\\') ++run;
  if (c == '\\' && run > escape) return escape + 1;
  if (c != '"' && c != '\\' && text.starts_with(c)) return 1;
  cut = run == text.size() && run <= escape;
  if (run == escape && run < text.size() && text[run] == c) return run + 1;  // \/, \"
  if (run != (std::size_t{1} << (level - 1)) || !text.substr(run).starts_with('u')) return 0;
  const std::string_view digits = text.substr(run + 1, 4);  // \u002f
  cut = digits.size() < 4;
  unsigned code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, /*base=*/16);
  return error == std::errc() && end == digits.data() + 4 && code == static_cast<unsigned char>(c)
             ? run + 5
             : 0;
}

struct Found {
  std::size_t length = 0;   ///< in the text
  std::size_t matched = 0;  ///< number of matched characters of the key
  bool to_end = false;      ///< the text ends there
};

Found find_key(std::string_view text, std::string_view key, int level) {
  Found found;
  for (const char c : key) {
    bool cut = false;
    const std::size_t length = spelled(text.substr(found.length), c, level, cut);
    if (length == 0) {
      if (cut) found.length = text.size();
      break;
    }
    found.length += length;
    ++found.matched;
  }
  found.to_end = found.length == text.size();
  return found;
}

}  // namespace

std::string Key::redact(std::string text) const {
  constexpr std::string_view kMark = "[key]";
  constexpr std::size_t kLeast = 6;  // fewer characters reveal nothing
  constexpr std::size_t kShortestSecret = 8;
  if (value_.size() < kShortestSecret) return text;
  std::string out;
  std::size_t kept = 0;  // the text before is already in `out`
  const std::string_view all = text;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at] != value_.front() && all[at] != '\\') continue;
    for (int level = 0; level <= kMostLevels; ++level) {
      const Found found = find_key(all.substr(at), value_, level);
      if (found.matched < value_.size() && !(found.to_end && found.matched >= kLeast)) continue;
      out += all.substr(kept, at - kept);
      out += kMark;
      kept = at + found.length;
      at = kept - 1;
      break;
    }
  }
  if (kept == 0) return text;
  return out + std::string(all.substr(kept));
}

}  // namespace pardec::chat
