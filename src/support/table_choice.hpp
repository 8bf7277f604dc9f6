#pragma once
#include <string>
#include <string_view>
#include <vector>

/// The user's choice of a table's format and columns.
namespace pardec {

enum class TableFormat { text, md, csv, csv_safe, json, jsonl, latex };

const std::vector<std::string>& table_format_names();
/// ConfigError: there is no such format.
TableFormat parse_table_format(std::string_view name);
/// The names of the formats, as text for the help of a flag.
inline constexpr const char* kTableFormats =
    "text, which fits the terminal, md, csv, csv-safe, json, jsonl or latex";

/// Which columns a table shows.
struct ColumnChoice {
  bool wide = false;               ///< all columns, even in text, md and latex
  std::vector<std::string> names;  ///< keys of the columns to show; empty: see `wide`
};

}  // namespace pardec
