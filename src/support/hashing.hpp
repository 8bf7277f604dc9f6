#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace pardec {

/// The SHA-256 of the bytes, in lower-case hexadecimal.
std::string sha256(std::string_view bytes);
/// The SHA-256 of a file's content, in lower-case hexadecimal. DataError: the file is missing, is
/// not a regular file, or cannot be read.
std::string sha256_file(const std::filesystem::path& file);

/// The source expression 'sha256-...', including its quotes, that allows an inline script in a
/// Content-Security-Policy. With this expression, a browser runs only this script. `script`: the
/// text between <script> and </script>.
std::string script_source(std::string_view script);

}  // namespace pardec
