#pragma once
#include <filesystem>
#include <string>

#include "src/support/error.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// Converts `error` to a ModelError with the same message, which starts with `where` (once).
ModelError as_model_error(const Error& error, const std::string& where);

/// A value from a file as text, shortened and escaped to fit into a one-line message.
std::string one_line(const Json& value);

/// Reads a JSON file of a checkpoint. ModelError: the file is missing or invalid.
Json read_model_json(const std::filesystem::path& file);

}  // namespace pardec
