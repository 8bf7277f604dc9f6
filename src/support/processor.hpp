#pragma once
#include <string>

namespace pardec {

/// What follows `key` and a colon on the first line of a file that begins so, e.g. "MemTotal" of
/// /proc/meminfo; with an empty key the first line. Empty: there is none.
std::string line_of(const std::string& file, const std::string& key);

/// The processor's model as the system names it; empty: it does not.
std::string processor_name();

}  // namespace pardec
