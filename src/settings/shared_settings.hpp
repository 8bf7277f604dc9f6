#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/settings/setting.hpp"
#include "src/support/table_choice.hpp"
#include "src/tasks/decode_options.hpp"

/// Rows that the tables of several verbs share.
namespace pardec {

/// Which network to use, and how it computes.
Settings model_settings(ModelOptions& model);
/// Options for generating answers.
Settings decode_settings(DecodeOptions& decode);

Setting db_setting(std::string& db);
Setting progress_setting(std::string& style);

/// Settings for programs that print a comparison.
Setting format_setting(std::string& format);
Settings columns_settings(ColumnChoice& columns);
Setting hardware_setting(std::vector<std::string>& hardware);
Setting strict_setting(bool& strict);

/// The keys of all possible columns of a comparison, except columns named after machines.
std::vector<std::string> known_columns();
/// ConfigError: no comparison has this column (with similar names), or `wide` and names are
/// combined.
void check_columns(const ColumnChoice& columns);

}  // namespace pardec
