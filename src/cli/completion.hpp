#pragma once
#include <vector>

#include "src/cli/command_line.hpp"

namespace pardec {

/// What shells and `man` are told of these verbs, from the flags that they declare.
Verb completion_verb(const std::vector<Verb>& verbs);

}  // namespace pardec
