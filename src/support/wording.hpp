#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Texts with the project's wording (prompts), stored as files.
namespace pardec {

/// The sections of such a file. A line `[name]` opens a section; lines before the first section are
/// comments. Empty lines at both ends of a section are removed. ConfigError, with file and line: a
/// section is not `known`, or repeated.
std::map<std::string, std::string> sections_of(std::string_view content, const std::string& name,
                                               const std::vector<std::string>& known);

/// Replaces each `{slot}` with its value, in one pass from left to right: braces in a value are
/// kept. ConfigError: a slot has no value in `slots`.
std::string fill(std::string_view wording, const std::map<std::string, std::string>& slots,
                 const std::string& where);

}  // namespace pardec
