#include "src/cli/with_flags.hpp"

#include <algorithm>

#include "src/cli/command_line.hpp"
#include "src/cli/program.hpp"

namespace pardec {

namespace {

std::set<std::string> flags_of_all_verbs() {
  std::set<std::string> flags;
  for (const Verb& verb : all_verbs()) {
    CLI::App app(verb.summary, verb.name);
    verb.add(app);
    for (const CLI::Option* option : app.get_options())
      flags.insert(option->get_lnames().begin(), option->get_lnames().end());
  }
  return flags;
}

}  // namespace

std::string with_flags(std::string_view text) {
  if (text.find('`') == std::string_view::npos) return std::string(text);
  static const std::set<std::string> kFlags = flags_of_all_verbs();
  return with_flags_of(kFlags, text);
}

std::string with_flags_of(const std::set<std::string>& flags, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('`');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open + 1);
    const std::string_view quoted = text.substr(0, text.find('`'));
    const std::size_t equals = quoted.find('=');
    std::string flag(quoted.substr(0, equals));
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (quoted.size() == text.size() || !flags.contains(flag)) {
      out += '`';  // the closing backquote may open another name
      continue;
    }
    out += "--" + flag;
    if (equals != std::string_view::npos) out += str(" ", quoted.substr(equals + 1));
    text.remove_prefix(quoted.size() + 1);
  }
  return out;
}

}  // namespace pardec
