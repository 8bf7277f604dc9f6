#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace pardec {

/// SHA-256 in lower-case hexadecimal.
std::string sha256(std::string_view bytes);
std::string sha256_file(const std::filesystem::path& file);

/// The Content-Security-Policy source of a script between <script> and </script>. No other script
/// is run, whatever the page contains.
std::string script_source(std::string_view script);

}  // namespace pardec
