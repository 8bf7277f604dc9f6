#pragma once
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// The subcommand that generates shell completions and a manual page, from the flags that the
/// subcommands in `verbs` declare.
Verb completion_verb(const std::vector<Verb>& verbs);

}  // namespace pardec
