#include "decoders/options.hpp"

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

int read_number(JsonReader& read, std::string_view decoder, const std::string& option, int fallback,
                int least, int most) {
  const int value = read.optional<int>(option, fallback);
  if (value < least || value > most)
    throw ConfigError(
        str(decoder, ".", option, " is ", value, ", expected ", least, " to ", most));
  return value;
}

}  // namespace pardec
