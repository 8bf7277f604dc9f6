#pragma once
#include <string>
#include <vector>

#include "src/report/table.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pardec {

/// Declares --format.
CLI::Option* add_format(CLI::App& app, std::string& format);
/// Declares --wide and --columns, for verbs that show a comparison.
void add_columns(CLI::App& app, ColumnChoice& columns);

/// Whether the format is text or md. In these formats, one table may follow another.
bool is_for_people(TableFormat format);
/// Prints a table to stdout. In the format text, the table is as wide as the terminal (at least 20
/// characters), and has colours if the terminal supports them. If stdout is not a terminal, the
/// width is the value of the environment variable COLUMNS, or 80.
void print_table(const Table& table, TableFormat format);

/// Prints the tables of one command to stdout. In json, `finish` prints all tables as one document:
/// a single table as an object, several tables as a list. In the other formats, `print` prints each
/// table immediately. In text and md, there is an empty line between two tables.
class TablePrinter {
 public:
  /// `list`: if true, the json document is always a list, even for a single table or no table. If
  /// false, and there is no table, nothing is printed.
  explicit TablePrinter(TableFormat format, bool list = false) : format_(format), list_(list) {}
  /// Prints the table, or, in json, keeps it for `finish`.
  void print(const Table& table);
  /// To be called once, after the last table. Prints nothing in formats other than json.
  void finish();

 private:
  TableFormat format_;
  bool list_, first_ = true;
  OrderedJson all_ = OrderedJson::array();
};

}  // namespace pardec
