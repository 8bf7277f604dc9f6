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
  std::string key = {};    ///< name in json and jsonl; empty: the header
  bool data_only = false;  ///< for programs: csv, json and jsonl have it, md and latex do not
  /// csv: names of the items of its values, which are lists; a column each, the first by the key
  /// alone. Other lists of numbers are numbered from 1.
  std::vector<std::string> parts = {};
  bool wide = false;      ///< for people only where all columns are asked for (choose_columns)
  bool brief = false;     ///< for people only where they are not
  bool number = false;    ///< its values are numbers, though it is aligned as text is
  bool group = false;     ///< text: rows of one text in it stand below it, as below a heading
  bool messages = false;  ///< its cells, and their values, are messages (wording.hpp)
};

/// What a cell says is good or bad news, for colours.
enum class Tone { plain, good, bad, caution };

/// What is shown, and optionally the value behind it: csv, json and jsonl write the value in full
/// precision.
struct Cell {
  Cell(const char* shown) : text(shown) {}
  Cell(std::string shown) : text(std::move(shown)) {}
  Cell(std::string shown, Json raw, Tone news = Tone::plain)
      : text(std::move(shown)), value(std::move(raw)), tone(news) {}

  std::string text;
  std::optional<Json> value;
  Tone tone = Tone::plain;
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
  /// What follows from the table, in words; stands right below it.
  std::vector<std::string> conclusion = {};
  /// Notes on columns that are Column::wide.
  std::vector<std::string> wide_notes = {};
  /// Reasons not to trust a number of the table as it stands. They are printed before the notes.
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

/// "WARNING (code) ...", a line for people.
std::string warning_line(const MergedWarning& warning, const Wording& wording);

/// One line without controls, since a row is one.
std::string one_line(std::string_view text);

/// The key of a column in json: its header where it has none of its own.
const std::string& key_of(const Column& column);

/// The table without its columns that are data_only.
Table without_data_columns(const Table& table);

/// A table that shows these: columns that are wide become plain ones and those that are brief
/// data_only, or there are no others than the named ones. A name that the table does not have is
/// left out, and a note says so.
Table choose_columns(Table table, const ColumnChoice& choice);

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

/// What text is written to.
struct Screen {
  int width = 80;
  bool colour = false;
};

/// The table as text that ends with a line end (an empty table in jsonl is empty text).
///   text   for a terminal: no line is wider than the screen (text_table.hpp). Like md and latex
///          without columns that are data_only or wide
///   md     title, columns aligned by display width, conclusion, warnings, notes
///   csv    RFC 4180 quoting, LF line ends; header and rows only, columns by their keys in json;
///          every text as it is, so that a spreadsheet takes one that begins with = + - or @ for a
///          formula; an interval (key X_interval) is two columns X_low and X_high, a difference
///          (X_difference) three with its interval's, and its p where one has it; a list of numbers
///          is as many columns as its longest has items
///   csv-safe  the same for spreadsheets: a text that begins so, or with a tab or carriage return,
///          has ' before it; numbers stay numbers
///   json   {"title", "columns": [keys], "rows": [objects], "conclusion", "notes",
///          "warnings": [{"code", "dataset", "arm", "text"}]}
///   jsonl  one object a row
///   latex  a booktabs table with caption and notes
std::string render(const Table& table, TableFormat format, const Screen& screen = {},
                   const Wording& wording = {});

}  // namespace pardec
