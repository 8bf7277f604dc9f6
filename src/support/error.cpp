#include "src/support/error.hpp"

#include <new>

#include "src/support/text.hpp"

namespace pardec {

DataError::DataError(std::string_view file, long line, std::string_view what)
    : Error(line > 0 ? str(file, ":", line, ": ", what) : str(file, ": ", what), 2) {}

ModelError::ModelError(std::string_view path, std::string_view what)
    : Error(str(path, ": ", what), 2) {}

std::string reason_of(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error)) return error.what();
  if (dynamic_cast<const std::bad_alloc*>(&error))
    return "out of memory; use a smaller batch, stack or network";
  return str("internal error: ", error.what());
}

StoreError::StoreError(std::string_view path, std::string_view what, int exit_code)
    : Error(str(path, ": ", what), exit_code) {}

}  // namespace pardec
