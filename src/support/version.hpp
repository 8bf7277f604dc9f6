#pragma once
#include <string>

namespace pardec {

/// The version of the program, and the settings with which it was built. `commit`: the first 12
/// digits of the git commit, followed by "-dirty" if files were changed, or "unknown". `torch`: the
/// version of libtorch. `torch_kind`: cuda or cpu. `flags`: flags of the compiler; may be empty.
struct Version {
  std::string version, commit, torch, torch_kind, build_type, compiler, flags;
};
const Version& version();

}  // namespace pardec
