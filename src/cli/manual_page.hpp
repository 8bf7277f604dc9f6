#pragma once
#include <string>
#include <vector>

namespace pardec {

/// A flag, as shown in shell completions and in the manual page.
struct KnownFlag {
  /// e.g. "--db", "FILE", "database"; `type` is empty for a flag without a value
  std::string name, type, meaning;
};

/// A verb, as shown in shell completions and in the manual page.
struct KnownVerb {
  std::string name, summary;
  std::string example;               ///< see Verb::example
  std::vector<std::string> actions;  ///< see Verb::actions
  std::vector<KnownFlag> flags;
};

/// The manual page of `pardec` with these verbs, in roff.
std::string manual_page(const std::vector<KnownVerb>& verbs);

}  // namespace pardec
