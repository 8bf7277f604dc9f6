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

/// Whether the format is text or md, in which one table may follow another.
bool is_for_people(TableFormat format);
/// Prints a table to stdout. Text has the width of a terminal, with colours if possible; otherwise
/// the width is COLUMNS, or 80.
void print_table(const Table& table, TableFormat format);

/// Prints the tables of one command. For people, tables follow each other. In json, they form one
/// document: a single table is printed as an object and several as a list, when `finish` is called.
class TablePrinter {
 public:
  /// `list`: a single table is also printed as a list.
  explicit TablePrinter(TableFormat format, bool list = false) : format_(format), list_(list) {}
  void print(const Table& table);
  void finish();

 private:
  TableFormat format_;
  bool list_, first_ = true;
  OrderedJson all_ = OrderedJson::array();
};

}  // namespace pardec
