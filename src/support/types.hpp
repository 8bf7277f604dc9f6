#pragma once
#include <cstdint>
#include <vector>

namespace pardec {

/// A vocabulary id.
using Token = std::int32_t;
using Tokens = std::vector<Token>;

}  // namespace pardec
