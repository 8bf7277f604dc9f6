#pragma once
#include <set>
#include <string>
#include <string_view>

namespace pardec {

/// Replaces names of settings by flags in a message. Code outside src/cli does not know flags, so
/// its messages have names of settings in backquotes. `batch_size` becomes --batch-size, and
/// `dtype=bf16` becomes --dtype bf16, if any verb has this flag. Other text in backquotes is
/// unchanged, and keeps its backquotes. Apply this to messages only, not to texts from networks or
/// datasets.
std::string with_flags(std::string_view text);

/// Replaces names of settings as with_flags does, but only by the flags in `flags`, e.g.
/// "batch-size". Used in the help of a verb for the verb's own flags.
std::string with_flags_of(const std::set<std::string>& flags, std::string_view text);

}  // namespace pardec
