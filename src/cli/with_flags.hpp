#pragma once
#include <set>
#include <string>
#include <string_view>

namespace pardec {

/// A message of a lower layer as the command line says it. Lower layers know settings, not flags,
/// and have their names in backquotes: `batch_size` becomes --batch-size, and `dtype=bf16` becomes
/// --dtype bf16, where a verb has such a flag. All else stays as it is, with its backquotes. For
/// messages alone: what a network or a dataset wrote is printed as it is.
std::string with_flags(std::string_view text);

/// The same, of these flags alone (batch-size): for what a verb says of its own flags, in its help.
std::string with_flags_of(const std::set<std::string>& flags, std::string_view text);

}  // namespace pardec
