#pragma once
#include <string>
#include <string_view>
#include <vector>

/// The user's choice of a table's format and columns.
namespace pardec {

/// The format of a table. `csv_safe` is csv, changed so that no spreadsheet program evaluates a
/// cell as a formula.
enum class TableFormat { text, md, csv, csv_safe, json, jsonl, latex };

/// The names of the formats, in the order of TableFormat.
const std::vector<std::string>& table_format_names();
/// The format with this name. ConfigError: there is no such format.
TableFormat parse_table_format(std::string_view name);
/// The list of formats, as text for the help of a flag.
inline constexpr const char* kTableFormats =
    "text, which fits the terminal, md, csv, csv-safe, json, jsonl or latex";

/// Which columns a table shows.
struct ColumnChoice {
  bool wide = false;  ///< if `names` is empty: all columns are shown, even in text, md and latex
  /// Keys of the columns to show. Empty: all columns if `wide`, otherwise the usual columns of the
  /// format.
  std::vector<std::string> names;
};

}  // namespace pardec
