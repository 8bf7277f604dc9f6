#pragma once
#include <string>

namespace pardec {

/// The version of the program, and the settings with which it was built.
struct Version {
  std::string version, commit, torch, torch_kind, build_type, compiler, flags;
};
const Version& version();

}  // namespace pardec
