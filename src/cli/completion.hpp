#pragma once
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// The verb `completion`, which prints shell completions or a manual page. It covers the verbs in
/// `verbs` and their flags.
Verb completion_verb(const std::vector<Verb>& verbs);

}  // namespace pardec
