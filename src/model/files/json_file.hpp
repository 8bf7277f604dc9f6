#pragma once
#include <filesystem>
#include <string>

#include "src/support/error.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// Converts `error` to a ModelError with the same message. The new message starts with `where`
/// exactly once, whether or not the old message starts with it. If the old message continues with a
/// line number N, as in "WHERE:N: ...", the new message has "line N".
ModelError as_model_error(const Error& error, const std::string& where);

/// A value from a file as text that fits into a message: on one line, escaped, and shortened to
/// about 80 characters.
std::string one_line(const Json& value);

/// Reads a JSON file of a checkpoint. ModelError: the file cannot be read or is not valid JSON.
Json read_model_json(const std::filesystem::path& file);

}  // namespace pardec
