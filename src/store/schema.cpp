#include "src/store/schema.hpp"

#include <charconv>
#include <stdexcept>
#include <string_view>

namespace pardec {

int schema_version() {
  constexpr std::string_view kBefore = "PRAGMA user_version = ";
  const std::string_view text = schema_sql();
  const std::size_t at = text.find(kBefore);
  int version = 0;
  if (at == text.npos ||
      std::from_chars(text.data() + at + kBefore.size(), text.data() + text.size(), version).ec !=
          std::errc())
    throw std::logic_error("results/schema.sql has no line 'PRAGMA user_version = NUMBER;'");
  return version;
}

}  // namespace pardec
