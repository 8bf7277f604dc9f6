#pragma once
#include <string>

namespace pardec {

/// The source and settings that this program was built from.
struct Version {
  std::string version, commit, torch, torch_kind, build_type, compiler, flags;
};
const Version& version();

}  // namespace pardec
