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
/// Declares --wide and --columns, of verbs that show a comparison.
void add_columns(CLI::App& app, ColumnChoice& columns);

/// Text and md, in which one table may stand below another.
bool is_for_people(TableFormat format);
/// Prints a table on stdout: text as wide as the terminal, in colour where it may be coloured; else
/// as wide as COLUMNS says, or 80.
void print_table(const Table& table, TableFormat format);

/// Prints the tables of one command: for people below each other, as json in one document, a table
/// as itself and several as a list, which `finish` prints.
class TablePrinter {
 public:
  /// `list`: also a single table stands in one.
  explicit TablePrinter(TableFormat format, bool list = false) : format_(format), list_(list) {}
  void print(const Table& table);
  void finish();

 private:
  TableFormat format_;
  bool list_, first_ = true;
  OrderedJson all_ = OrderedJson::array();
};

}  // namespace pardec
