#pragma once
#include <set>
#include <string>
#include <string_view>

namespace pardec {

/// Replaces names of settings in a message by flags. Code outside src/cli does not know flags, so
/// its messages have names of settings in backquotes. If any verb has the flag, `batch_size`
/// becomes --batch-size, and `dtype=bf16` becomes --dtype bf16, both without backquotes. Other text
/// in backquotes is unchanged, and keeps its backquotes. Apply this to messages only, not to texts
/// from networks or datasets.
std::string with_flags(std::string_view text);

/// Replaces names of settings as with_flags does, but only by the flags in `flags`. `flags`: names
/// without leading dashes, e.g. "batch-size". The help of settings uses this function, because
/// with_flags needs the verbs, which are made from the settings.
std::string with_flags_of(const std::set<std::string>& flags, std::string_view text);

}  // namespace pardec
