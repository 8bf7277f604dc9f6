#pragma once
#include <filesystem>
#include <string>

#include "src/support/error.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// `error` as a ModelError with the same words. Its message starts with `where`.
ModelError as_model_error(const Error& error, const std::string& where);

/// Text from a file, shortened and escaped to fit a one-line message.
std::string one_line(const Json& value);

/// Reads a JSON file of a checkpoint. ModelError: the file is missing or invalid.
Json read_model_json(const std::filesystem::path& file);

}  // namespace pardec
