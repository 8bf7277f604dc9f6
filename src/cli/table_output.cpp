#include "src/cli/table_output.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "src/cli/setting_flags.hpp"
#include "src/cli/with_flags.hpp"
#include "src/settings/shared_settings.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"

namespace pardec {

CLI::Option* add_format(CLI::App& app, std::string& format) {
  return add_flag(app, format_setting(format));
}

void add_columns(CLI::App& app, ColumnChoice& columns) {
  add_flags(app, columns_settings(columns));
}

bool is_for_people(TableFormat format) {
  return format == TableFormat::text || format == TableFormat::md;
}

void TablePrinter::print(const Table& table) {
  if (format_ == TableFormat::json) {
    all_.push_back(OrderedJson::parse(render(table, format_, {}, with_flags)));
    return;
  }
  if (!first_ && is_for_people(format_)) std::cout << "\n";
  print_table(table, format_);
  std::cout << std::flush;
  first_ = false;
}

void TablePrinter::finish() {
  if (format_ != TableFormat::json || (all_.empty() && !list_)) return;
  std::cout << (all_.size() == 1 && !list_ ? dump(all_.front()) : all_.dump(2)) << "\n";
}

void print_table(const Table& table, TableFormat format) {
  const bool colour = format == TableFormat::text && may_colour(STDOUT_FILENO);
  const std::string text = render(
      table, format, {std::max(20, terminal_size(STDOUT_FILENO).columns), colour}, with_flags);
  std::cout.flush();
  // Escape codes are only from colours: those in cells were replaced by visible_text.
  if (colour)
    std::fwrite(text.data(), 1, text.size(), stdout);
  else
    std::cout << text;
}

}  // namespace pardec
