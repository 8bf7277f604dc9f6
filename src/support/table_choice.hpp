#pragma once
#include <string>
#include <string_view>
#include <vector>

/// How a reader wants a table.
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
  bool wide = false;               ///< all that are for people
  std::vector<std::string> names;  ///< keys: these alone, in every format; empty: as `wide` says
};

}  // namespace pardec
