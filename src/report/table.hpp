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

struct Column {
  std::string header;
  Align align = Align::left;
  std::string key = {};  ///< name in json and jsonl; empty: the header
  /// included in csv, json and jsonl only, not in text, md and latex
  bool data_only = false;
  /// csv: names of the items of its values, which are lists. Each item is a column; the first is
  /// named by the key alone. Items of other lists of numbers are numbered from 1.
  std::vector<std::string> parts = {};
  bool wide = false;    ///< people see it only if all columns are requested (choose_columns)
  bool brief = false;   ///< people see it only if not all columns are requested
  bool number = false;  ///< its values are numbers, although it is aligned like text
  /// text: rows with the same text in this column are grouped under it as a heading
  bool group = false;
  bool messages = false;  ///< its cells and their values are messages (wording.hpp)
};

/// Whether a cell is good or bad news; shown by colours.
enum class Tone { plain, good, bad, caution };

/// The text shown, and optionally a value, which csv, json and jsonl write in full precision.
struct Cell {
  Cell(const char* shown) : text(shown) {}
  Cell(std::string shown) : text(std::move(shown)) {}
  Cell(std::string shown, Json raw, Tone news = Tone::plain)
      : text(std::move(shown)), value(std::move(raw)), tone(news) {}

  std::string text;
  std::optional<Json> value;
  Tone tone = Tone::plain;
};

/// A number with `decimals` digits after the point; "n/a" if it is not finite (null in json, empty
/// in csv).
Cell number_cell(double value, int decimals);
Cell number_cell(std::int64_t value);

/// Null if the number is not finite.
Json json_of(double value);

/// A cell without a value: null for programs.
Cell no_cell();

/// A table as a value. A row may be shorter than the list of columns, but not longer.
struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;
  /// Conclusions from the table, in words; printed directly below it.
  std::vector<std::string> conclusion = {};
  /// Notes on columns with Column::wide.
  std::vector<std::string> wide_notes = {};
  /// A reason to distrust a number of the table. Warnings are printed before the notes.
  struct Warning {
    std::string code, dataset, arm, found;
    std::string advice = {};  ///< equal for all warnings with this code; may be empty

    /// "found; advice"
    std::string text() const;
  };
  std::vector<Warning> warnings = {};
  /// Dataset and arm of the rows, so that a warning about all of them need not list them; may be
  /// empty.
  std::vector<std::pair<std::string, std::string>> arms = {};
};

/// Warnings with the same code and advice, combined for people.
struct MergedWarning {
  struct Finding {
    std::string text;                  ///< "oa-mine + squad hpd, ippd; race ippd: found"
    std::vector<std::size_t> members;  ///< indices in Table::warnings
  };
  std::string code;
  std::vector<Finding> findings;
  std::string advice;

  /// The first findings in one line, the number of further ones, and the advice.
  std::string text() const;
};

/// A table's warnings, ordered by the first occurrence of their codes.
std::vector<MergedWarning> merge_warnings(const Table& table);

/// "WARNING (code) ...", a line for people.
std::string warning_line(const MergedWarning& warning, const Wording& wording);

/// The text as one line without control characters.
std::string one_line(std::string_view text);

/// The key of a column in json: its own, otherwise its header.
const std::string& key_of(const Column& column);

/// The table without columns that are data_only.
Table without_data_columns(const Table& table);

/// Selects columns. With all columns, wide ones become plain, and brief ones data_only. With named
/// columns, all others are removed; unknown names are ignored with a note.
Table choose_columns(Table table, const ColumnChoice& choice);

/// The columns and values of csv: each value is a number, true, false, a text or null.
struct FlatTable {
  struct Column {
    std::string name;
    bool numbers;  ///< whether it contains numbers rather than texts, as far as the table shows
  };
  std::vector<Column> columns;
  std::vector<std::vector<Json>> rows;
};
FlatTable flat(const Table& table);

/// One line of csv, including its end. Numbers are written as in json. `safe`: see csv-safe below.
std::string csv_line(const std::vector<Json>& values, bool safe);

/// Properties of the output device.
struct Screen {
  int width = 80;
  bool colour = false;
};

/// The table as text that ends with a line feed (an empty table in jsonl is empty text).
///   text   for a terminal: no line is wider than the screen (text_table.hpp). Like md and latex
///          without columns that are data_only or wide
///   md     title, columns aligned by display width, conclusion, warnings, notes
///   csv    RFC 4180 quoting, LF line ends; header and rows only, columns by their keys in json;
///          texts are unchanged, so a spreadsheet takes a text that begins with = + - or @ for a
///          formula; an interval (key X_interval) is two columns X_low and X_high; a difference
///          (X_difference) is three columns with its interval, and p if a cell has it; a list of
///          numbers is one column per item, up to the longest list
///   csv-safe  the same for spreadsheets: a text that begins with one of these characters, a tab
///          or a carriage return is prefixed with '; numbers stay numbers
///   json   {"title", "columns": [keys], "rows": [objects], "conclusion", "notes",
///          "warnings": [{"code", "dataset", "arm", "text"}]}
///   jsonl  one object per row
///   latex  a booktabs table with caption and notes
std::string render(const Table& table, TableFormat format, const Screen& screen = {},
                   const Wording& wording = {});

}  // namespace pardec
