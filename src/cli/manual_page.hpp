#pragma once
#include <string>
#include <vector>

namespace pardec {

/// A flag, and a verb, as shown to shells and `man`.
struct KnownFlag {
  std::string name, type, meaning;  ///< --db, FILE, "database"; a switch has no type
};

struct KnownVerb {
  std::string name, summary, example;
  std::vector<std::string> actions;
  std::vector<KnownFlag> flags;
};

/// The manual page for these verbs.
std::string manual_page(const std::vector<KnownVerb>& verbs);

}  // namespace pardec
