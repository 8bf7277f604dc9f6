#pragma once
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// Generates completion for shells and a manual page from the flags that these verbs declare.
Verb completion_verb(const std::vector<Verb>& verbs);

}  // namespace pardec
