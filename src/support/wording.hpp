#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Texts of the project's own wording (prompts), as files.
namespace pardec {

/// The sections of such a file: a line `[name]` opens one, lines before the first are comments;
/// empty lines at both ends of a section are dropped. ConfigError with file and line: a section
/// that is not `known`, or stands there twice.
std::map<std::string, std::string> sections_of(std::string_view content, const std::string& name,
                                               const std::vector<std::string>& known);

/// Replaces `{slot}` by its value, once, from left to right: braces in a value stay. ConfigError
/// for a slot that is not among the given.
std::string fill(std::string_view wording, const std::map<std::string, std::string>& slots,
                 const std::string& where);

}  // namespace pardec
