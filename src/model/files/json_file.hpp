#pragma once
#include <filesystem>
#include <string>

#include "src/support/error.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// `error`, whose message starts with `where`, as a ModelError of the same words.
ModelError as_model_error(const Error& error, const std::string& where);

/// Text from a file, made fit for a one-line message.
std::string one_line(const Json& value);

/// A JSON file of a checkpoint; what is wrong with it is a ModelError.
Json read_model_json(const std::filesystem::path& file);

}  // namespace pardec
