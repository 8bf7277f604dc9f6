#pragma once
#include <string>
#include <string_view>

#include "src/support/json.hpp"

namespace pardec {

/// A whole number among the options of a decoder, `fallback` where it is not given. ConfigError
/// where it is not from `least` to `most`.
int read_number(JsonReader& read, std::string_view decoder, const std::string& option, int fallback,
                int least, int most);

// What options may ask for at most, so that no pass outgrows memory.
inline constexpr int kMostStacked = 1024;  ///< contexts in one prompt
inline constexpr int kMostGuesses = 1024;  ///< tokens guessed ahead, one behind another
inline constexpr int kMostRows = 4096;     ///< that one stream feeds in a pass
inline constexpr int kMostGap = 65536;     ///< positions between two branches

}  // namespace pardec
