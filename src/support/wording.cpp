#include "src/support/wording.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::map<std::string, std::string> sections_of(std::string_view content, const std::string& name,
                                               const std::vector<std::string>& known) {
  std::map<std::string, std::string> sections;
  std::string* current = nullptr;
  long number = 0;
  for (const auto& line : split(replace_all(std::string(content), "\r\n", "\n"), '\n')) {
    ++number;
    if (line.size() > 2 && line.front() == '[' && line.back() == ']') {
      const std::string section = line.substr(1, line.size() - 2);
      if (std::find(known.begin(), known.end(), section) == known.end())
        throw ConfigError(str(name, ":", number, ": unknown section '", section, "'",
                              known_names(section, known)));
      const auto [place, fresh] = sections.emplace(section, "");
      if (!fresh)
        throw ConfigError(str(name, ":", number, ": section '", section, "' occurs there twice"));
      current = &place->second;
    } else if (current) {
      *current += line + "\n";
    }
  }
  for (auto& [section, text] : sections) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    while (!text.empty() && text.front() == '\n') text.erase(0, 1);
  }
  return sections;
}

std::string fill(std::string_view wording, const std::map<std::string, std::string>& slots,
                 const std::string& where) {
  std::string out;
  for (size_t at = 0; at < wording.size();) {
    const size_t open = wording.find('{', at);
    const size_t close = open == std::string_view::npos ? open : wording.find('}', open);
    if (close == std::string_view::npos) {
      out += wording.substr(at);
      break;
    }
    out += wording.substr(at, open - at);
    const std::string slot(wording.substr(open + 1, close - open - 1));
    const bool is_name =
        !slot.empty() && slot.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos;
    if (!is_name) {  // braces of the wording itself, as in JSON
      out += '{';
      at = open + 1;
      continue;
    }
    const auto found = slots.find(slot);
    if (found == slots.end()) {
      std::vector<std::string> known;
      for (const auto& [key, value] : slots) known.push_back(key);
      throw ConfigError(str(where, ": unknown slot {", slot, "}", known_names(slot, known)));
    }
    out += found->second;
    at = close + 1;
  }
  return out;
}

}  // namespace pardec
