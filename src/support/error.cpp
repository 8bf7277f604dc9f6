#include "src/support/error.hpp"

#include "src/support/text.hpp"

namespace pardec {

DataError::DataError(std::string_view file, long line, std::string_view what)
    : Error(line > 0 ? str(file, ":", line, ": ", what) : str(file, ": ", what), 2) {}

ModelError::ModelError(std::string_view path, std::string_view what)
    : Error(str(path, ": ", what), 2) {}

StoreError::StoreError(std::string_view path, std::string_view what, int exit_code)
    : Error(str(path, ": ", what), exit_code) {}

}  // namespace pardec
