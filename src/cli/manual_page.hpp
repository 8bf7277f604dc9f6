#pragma once
#include <string>
#include <vector>

namespace pardec {

/// A flag, as shown in shell completions and in the manual page.
struct KnownFlag {
  std::string name, type, meaning;  ///< e.g. "--db", "FILE", "database"; type is empty for a switch
};

/// A verb, as shown in shell completions and in the manual page.
struct KnownVerb {
  std::string name, summary;
  std::string example;               ///< shell commands, one in each line
  std::vector<std::string> actions;  ///< words after the verb, e.g. `export` of `judge`
  std::vector<KnownFlag> flags;
};

/// The manual page of `pardec` with these verbs, in roff.
std::string manual_page(const std::vector<KnownVerb>& verbs);

}  // namespace pardec
