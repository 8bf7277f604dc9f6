#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace pardec {

/// SHA-256 in lower-case hexadecimal.
std::string sha256(std::string_view bytes);
std::string sha256_file(const std::filesystem::path& file);

}  // namespace pardec
