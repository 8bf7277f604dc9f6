#include "src/model/files/json_file.hpp"

#include "src/support/text.hpp"

namespace pardec {

ModelError as_model_error(const Error& error, const std::string& where) {
  std::string what = error.what();
  if (what.starts_with(where)) what.erase(0, where.size());
  what.erase(0, what.find_first_not_of(": "));
  if (!what.empty() && what[0] >= '0' && what[0] <= '9') what = "line " + what;
  return ModelError(where, what);
}

std::string one_line(const Json& value) { return repair_utf8(shortened(dump(value), 80)); }

Json read_model_json(const std::filesystem::path& file) {
  try {
    return read_json(file);
  } catch (const DataError& error) {
    throw as_model_error(error, file.string());
  }
}

}  // namespace pardec
