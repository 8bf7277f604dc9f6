#pragma once
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// The verb `completion`, which prints shell completions or a manual page, for the verbs in `verbs`
/// with their flags, and for `completion` itself.
Verb completion_verb(const std::vector<Verb>& verbs);

}  // namespace pardec
