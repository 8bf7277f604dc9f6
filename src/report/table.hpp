#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/wording.hpp"
#include "src/support/json.hpp"
#include "src/support/table_choice.hpp"

namespace pardec {

enum class Align { left, right };

/// A column of a table.
struct Column {
  std::string header;
  Align align = Align::left;
  std::string key = {};  ///< name in csv, json and jsonl; empty: the header
  /// whether the column is only in csv, json and jsonl, and not in text, md and latex
  bool data_only = false;
  /// For columns whose values are lists of numbers: names of the items of a list, in order. In csv,
  /// the first item is the column KEY, and each further item is a column KEY_NAME. Items without a
  /// name are columns KEY_N, where N is the place in the list, counted from 1.
  std::vector<std::string> parts = {};
  /// whether text, md and latex show the column only if all columns are requested (choose_columns)
  bool wide = false;
  /// whether text, md and latex show the column only if not all columns are requested
  bool brief = false;
  bool number = false;  ///< whether the values are numbers, even if `align` is left
  /// In text, rows with the same text in this column are grouped, and the text is their heading. If
  /// all rows have different texts, the column is shown as an ordinary column.
  bool group = false;
  bool messages = false;  ///< texts and values of the cells are messages (wording.hpp)
};

/// Whether a cell is good or bad news. Its colour shows the tone.
enum class Tone { plain, good, bad, caution };

/// The text of a cell, and optionally a value. csv, json and jsonl have the value, in full
/// precision; if there is no value, they have the text.
struct Cell {
  Cell(const char* shown) : text(shown) {}
  Cell(std::string shown) : text(std::move(shown)) {}
  Cell(std::string shown, Json raw, Tone news = Tone::plain)
      : text(std::move(shown)), value(std::move(raw)), tone(news) {}

  std::string text;
  std::optional<Json> value;
  Tone tone = Tone::plain;
};

/// A cell with a number, shown with `decimals` digits after the point. A number that is not finite
/// is shown as "n/a", is null in json, and is empty in csv.
Cell number_cell(double value, int decimals);
Cell number_cell(std::int64_t value);

/// The number as JSON; null if it is not finite.
Json json_of(double value);

/// A cell for a value that does not exist or is not known: "-" as text, null in json.
Cell no_cell();

/// The content of a table. A row may have fewer cells than there are columns, but not more.
struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< [row][column]
  std::vector<std::string> notes;
  /// Conclusions from the table, printed directly below it.
  std::vector<std::string> conclusion = {};
  /// Notes about columns with Column::wide.
  std::vector<std::string> wide_notes = {};
  /// A reason to distrust a number of the table. Warnings are printed before the notes.
  struct Warning {
    std::string code;          ///< the kind of warning
    std::string dataset, arm;  ///< names; empty: the warning is not about a single dataset or arm
    std::string found;         ///< what was found
    std::string advice = {};   ///< what the finding means and what to do; may be empty

    /// "found; advice"
    std::string text() const;
  };
  std::vector<Warning> warnings = {};
  /// (dataset, arm) of all rows. With this list, a warning about all arms is printed as "all arms".
  /// Empty: the names of the datasets and arms are always printed.
  std::vector<std::pair<std::string, std::string>> arms = {};
};

/// Warnings with the same code and advice, combined into one for text, md, latex and pages.
struct MergedWarning {
  /// One finding, and the warnings that have this finding.
  struct Finding {
    std::string text;  ///< datasets, arms and finding: "oa-mine + squad hpd; race ippd: found"
    std::vector<std::size_t> members;  ///< indices in Table::warnings
  };
  std::string code;               ///< Table::Warning::code
  std::vector<Finding> findings;  ///< one for each distinct Table::Warning::found
  std::string advice;             ///< Table::Warning::advice

  /// One line with the first six findings, the number of further findings, and the advice.
  std::string text() const;
};

/// The combined warnings of a table, ordered by the first occurrence of their codes.
std::vector<MergedWarning> merge_warnings(const Table& table);

/// The line "WARNING (code) ..." for text and md.
std::string warning_line(const MergedWarning& warning, const Wording& wording);

/// The text as one line: line breaks become spaces, and other control characters are made visible.
std::string one_line(std::string_view text);

/// The name of a column in json: `key`, or if that is empty, `header`.
const std::string& key_of(const Column& column);

/// The table without columns that are data_only.
Table without_data_columns(const Table& table);

/// Selects columns. If all columns are requested (ColumnChoice::wide), wide columns become ordinary
/// columns, brief columns become data_only, and wide_notes become notes. If columns are requested
/// by name, the table has only these columns, in the requested order. All formats show these
/// columns, even if they were data_only. A note lists unknown names. Without a request, the table
/// is unchanged.
Table choose_columns(Table table, const ColumnChoice& choice);

/// A table as csv has it: each value is a number, true, false, a text or null.
struct FlatTable {
  /// A column of csv.
  struct Column {
    std::string name;
    /// whether the values are numbers: Column::number is set, the alignment is right, or the column
    /// is a part of an interval, a difference or a list
    bool numbers;
  };
  std::vector<Column> columns;
  std::vector<std::vector<Json>> rows;  ///< [row][column]
};
/// Converts a table. `render` explains how intervals, differences and lists become columns.
FlatTable flat(const Table& table);

/// One line of csv, including the line feed. Numbers are written as in json. `safe`: whether to
/// write csv-safe (see render).
std::string csv_line(const std::vector<Json>& values, bool safe);

/// Properties of the output device.
struct Screen {
  int width = 80;       ///< in columns
  bool colour = false;  ///< whether to use colours (escape codes)
};

/// Renders the table. The result ends with a line feed, except that an empty table in jsonl is an
/// empty string. text, md and latex leave out columns that are data_only or wide.
///   text      for a terminal: no line is wider than the screen (text_table.hpp)
///   md        title, columns aligned by display width, conclusion, warnings, notes
///   csv       RFC 4180 quoting, LF line ends; header and rows only; columns have their keys as
///             names. Texts are unchanged, so a spreadsheet takes a text that begins with = + - or
///             @ for a formula. An interval (key X_interval) is two columns X_low and X_high. A
///             difference (key X_difference) is three columns X_difference, X_difference_low and
///             X_difference_high, and, if a cell has a p-value, a fourth column
///             X_difference_p_mcnemar_holm. A list of numbers is one column for each item of the
///             longest list (Column::parts)
///   csv-safe  csv for spreadsheets: ' is put before a text that begins with = + - or @, a tab or a
///             carriage return; numbers stay numbers
///   json      {"title", "columns": [keys], "rows": [objects], "conclusion", "notes" (including
///             wide_notes), "warnings": [{"code", "dataset", "arm", "text"}]}
///   jsonl     one object for each row
///   latex     a booktabs table with caption, conclusion, warnings and notes
/// `screen`: for text only. `wording`: converts the messages (worded(Table)).
std::string render(const Table& table, TableFormat format, const Screen& screen = {},
                   const Wording& wording = {});

}  // namespace pardec
