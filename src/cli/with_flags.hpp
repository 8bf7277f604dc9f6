#pragma once
#include <set>
#include <string>
#include <string_view>

namespace pardec {

/// Converts a message of a lower layer for the command line. Lower layers know settings, not flags,
/// and put their names in backquotes: `batch_size` becomes --batch-size, and `dtype=bf16` becomes
/// --dtype bf16, if a verb has such a flag. Everything else is unchanged, including its backquotes.
/// Only for messages: texts from networks and datasets are printed unchanged.
std::string with_flags(std::string_view text);

/// Same, for these flags only (batch-size): used for a verb's own flags in its help.
std::string with_flags_of(const std::set<std::string>& flags, std::string_view text);

}  // namespace pardec
