#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace pardec {

/// A token id.
using Token = std::int32_t;
using Tokens = std::vector<Token>;

inline bool contains(const Tokens& tokens, Token token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

}  // namespace pardec
