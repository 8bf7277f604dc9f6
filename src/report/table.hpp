#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

enum class Align { left, right };

struct Column {
  std::string header;
  Align align = Align::left;
  std::string key = {};    ///< name in json and jsonl; empty: the header
  bool data_only = false;  ///< for programs: csv, json and jsonl have it, md and latex do not
  /// csv: names of the items of its values, which are lists; a column each, the first by the key
  /// alone. Other lists of numbers are numbered from 1.
  std::vector<std::string> parts = {};
};

/// What is shown, and optionally the value behind it: csv, json and jsonl write the value in full
/// precision.
struct Cell {
  Cell(const char* shown) : text(shown) {}
  Cell(std::string shown) : text(std::move(shown)) {}
  Cell(std::string shown, Json raw) : text(std::move(shown)), value(std::move(raw)) {}

  std::string text;
  std::optional<Json> value;
};

/// A number shown with `decimals` digits after the point; "n/a" where it is not finite (null in
/// json, empty in csv).
Cell number_cell(double value, int decimals);
Cell number_cell(std::int64_t value);

/// Null where a number is not finite.
Json json_of(double value);

/// What there is nothing of: null for a program that reads the table.
Cell no_cell();

/// A table as a value. A row may be shorter than the list of columns, not longer.
struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;
  /// What says that a number here should not be believed as it stands. They stand before the notes.
  struct Warning {
    std::string code, dataset, arm, found;
    std::string advice = {};  ///< the same for all that a code is said of; may be empty

    /// "found; advice"
    std::string text() const;
  };
  std::vector<Warning> warnings = {};
  /// Dataset and arm of its rows, so that a warning of all need not name each; may be empty.
  std::vector<std::pair<std::string, std::string>> arms = {};
};

/// Warnings of one code and advice as people read them.
struct MergedWarning {
  struct Finding {
    std::string text;                  ///< "oa-mine + squad hpd, ippd; race ippd: found"
    std::vector<std::size_t> members;  ///< of Table::warnings
  };
  std::string code;
  std::vector<Finding> findings;
  std::string advice;

  /// The first findings in one line, and how many more there are; with the advice.
  std::string text() const;
};

/// A table's, in the order in which their codes come first.
std::vector<MergedWarning> merge_warnings(const Table& table);

/// What is shown to people: the table without its columns that are data_only.
Table without_data_columns(const Table& table);

/// The columns and values of csv: each value is a number, true, false, a text or null.
struct FlatTable {
  struct Column {
    std::string name;
    bool numbers;  ///< rather than texts, as far as the table says
  };
  std::vector<Column> columns;
  std::vector<std::vector<Json>> rows;
};
FlatTable flat(const Table& table);

/// A line of csv, with its end; a number as it is in json. `safe`: see csv-safe below.
std::string csv_line(const std::vector<Json>& values, bool safe);

enum class TableFormat { md, csv, csv_safe, json, jsonl, latex };

/// `md|csv|csv-safe|json|jsonl|latex`; anything else is a ConfigError.
TableFormat parse_table_format(std::string_view name);

/// The table as text that ends with a line end (an empty table in jsonl is empty text).
///   md     title, columns aligned by display width, notes: also what a terminal shows; like latex
///          without columns that are data_only
///   csv    RFC 4180 quoting, LF line ends; header and rows only, columns by their keys in json;
///          every text as it is, so that a spreadsheet takes one that begins with = + - or @ for a
///          formula; an interval (key X_interval) is two columns X_low and X_high, a difference
///          (X_difference) three with its interval's, and its p where one has it; a list of numbers
///          is as many columns as its longest has items
///   csv-safe  the same for spreadsheets: a text that begins so, or with a tab or carriage return,
///          has ' before it; numbers stay numbers
///   json   {"title", "columns": [keys], "rows": [objects], "notes",
///          "warnings": [{"code", "dataset", "arm", "text"}]}
///   jsonl  one object a row
///   latex  a booktabs table with caption and notes
std::string render(const Table& table, TableFormat format);

}  // namespace pardec
