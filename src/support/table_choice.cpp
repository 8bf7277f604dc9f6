#include "src/support/table_choice.hpp"

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

TableFormat parse_table_format(std::string_view name) {
  if (name == "text") return TableFormat::text;
  if (name == "md") return TableFormat::md;
  if (name == "csv") return TableFormat::csv;
  if (name == "csv-safe") return TableFormat::csv_safe;
  if (name == "json") return TableFormat::json;
  if (name == "jsonl") return TableFormat::jsonl;
  if (name == "latex") return TableFormat::latex;
  throw ConfigError(
      str("`format`: there is no format '", name, "'",
          known_names(name, {"text", "md", "csv", "csv-safe", "json", "jsonl", "latex"})));
}

}  // namespace pardec
