#pragma once
#include <string>

namespace pardec {

/// The text after `key` and a colon, on the first line of a file that starts so, e.g. "MemTotal" of
/// /proc/meminfo. With an empty key, the first line. Empty: there is no such line.
std::string line_of(const std::string& file, const std::string& key);

/// The processor's model as the system reports it; empty: unknown.
std::string processor_name();

}  // namespace pardec
