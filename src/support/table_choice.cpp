#include "src/support/table_choice.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

const std::vector<std::string>& table_format_names() {
  static const std::vector<std::string> kNames{"text", "md",    "csv",  "csv-safe",
                                               "json", "jsonl", "latex"};  // as declared
  return kNames;
}

TableFormat parse_table_format(std::string_view name) {
  const std::vector<std::string>& names = table_format_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw ConfigError(str("`format`: there is no format '", name, "'", known_names(name, names)));
  return static_cast<TableFormat>(found - names.begin());
}

}  // namespace pardec
