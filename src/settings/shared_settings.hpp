#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/settings/setting.hpp"
#include "src/support/table_choice.hpp"
#include "src/tasks/decode_options.hpp"

/// Rows that the tables of several verbs have.
namespace pardec {

/// Which network, and how it computes.
Settings model_settings(ModelOptions& model);
/// How answers are made.
Settings decode_settings(DecodeOptions& decode);

Setting db_setting(std::string& db);
Setting progress_setting(std::string& style);

/// What a program that prints a comparison is told.
Setting format_setting(std::string& format);
Settings columns_settings(ColumnChoice& columns);
Setting hardware_setting(std::vector<std::string>& hardware);
Setting strict_setting(bool& strict);

/// The keys of all columns that a comparison may have. The columns that are named after machines
/// are left out.
std::vector<std::string> known_columns();
/// ConfigError, with the near names, for a column that no comparison has, and for `wide` and names
/// together.
void check_columns(const ColumnChoice& columns);

}  // namespace pardec
