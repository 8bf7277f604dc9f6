#include "src/reproduction/scratch.hpp"

#include <stdlib.h>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

Scratch::Scratch(const std::string& name) {
  std::string pattern = (std::filesystem::temp_directory_path() / (name + "-XXXXXX")).string();
  if (!::mkdtemp(pattern.data()))
    throw RunError(str(pattern,
                       ": a scratch folder cannot be made; set TMPDIR to a folder that "
                       "can be written"));
  folder_ = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace pardec
