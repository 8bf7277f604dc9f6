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

/// ConfigError, with the near names, for a column that no comparison has, and for both flags
/// together.
void check_columns(const ColumnChoice& columns);

/// Text and md, in which one table may stand below another.
bool is_for_people(TableFormat format);
/// An empty line between two tables for people.
void print_gap(TableFormat format);
/// Prints a table on stdout: text as wide as the terminal, in colour where it may be coloured; else
/// as wide as COLUMNS says, or 80.
void print_table(const Table& table, TableFormat format);

}  // namespace pardec
