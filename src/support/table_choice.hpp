#pragma once
#include <string>
#include <string_view>
#include <vector>

/// The reader's choices of a table's format and columns.
namespace pardec {

enum class TableFormat { text, md, csv, csv_safe, json, jsonl, latex };

const std::vector<std::string>& table_format_names();
/// ConfigError: none of these names.
TableFormat parse_table_format(std::string_view name);
/// Their names, for the help of a flag.
inline constexpr const char* kTableFormats =
    "text, which fits the terminal, md, csv, csv-safe, json, jsonl or latex";

/// Which columns a table shows.
struct ColumnChoice {
  bool wide = false;  ///< all columns, also in the formats for people (text, md, latex)
  std::vector<std::string> names;  ///< keys of the only columns to show; empty: see `wide`
};

}  // namespace pardec
