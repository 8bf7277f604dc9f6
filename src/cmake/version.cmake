# Writes version.cpp, unless nothing has changed.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
else()
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND commit "-dirty")
  endif()
endif()
string(CONFIGURE [[
#include "src/support/version.hpp"

namespace pardec {

const Version& version() {
  static const Version kVersion{"@VERSION@", "@commit@", "@TORCH@", "@TORCH_KIND@", "@BUILD_TYPE@", "@COMPILER@", "@FLAGS@"};
  return kVersion;
}

}  // namespace pardec
]] content @ONLY)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "${content}" @ONLY)
