#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Wordings: prompt texts, which are stored in files.
namespace pardec {

/// Parses the content of a wording file. Returns a map from the name of each section to its text. A
/// line `[SECTION]` begins the section with the name SECTION; lines before the first section are
/// comments. Empty lines at both ends of a section are removed. `name`: the file's name for errors.
/// `known`: the valid names of sections. ConfigError, which names file and line: a section is not
/// in `known`, or occurs twice.
std::map<std::string, std::string> sections_of(std::string_view content, const std::string& name,
                                               const std::vector<std::string>& known);

/// Replaces each `{slot}` of a wording by its value in `slots`, a map from names of slots to
/// values. The name of a slot consists of the letters a to z and _. Other braces, and braces within
/// values, are kept. `where`: the wording's name for errors. ConfigError: `slots` lacks the value
/// of a slot.
std::string fill(std::string_view wording, const std::map<std::string, std::string>& slots,
                 const std::string& where);

}  // namespace pardec
