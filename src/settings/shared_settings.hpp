#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/settings/setting.hpp"
#include "src/support/table_choice.hpp"
#include "src/tasks/decode_options.hpp"

/// Rows of settings that several verbs have in common. Each row points into the argument of its
/// function, which must outlive the row.
namespace pardec {

/// Which network is used, and how it is computed (number type, device, threads, ...).
Settings model_settings(ModelOptions& model);
/// How several processes divide the work (ModelOptions::parallel): each process takes some of the
/// examples, or some parts of the network.
Setting parallel_setting(ModelOptions& model);
/// Options for generating answers.
Settings decode_settings(DecodeOptions& decode);

/// The database file.
Setting db_setting(std::string& db);
/// How progress is shown: a name for parse_progress_style.
Setting progress_setting(std::string& style);

/// Settings of verbs that print a comparison.
Setting format_setting(std::string& format);
Settings columns_settings(ColumnChoice& columns);
Setting hardware_setting(std::vector<std::string>& hardware);
Setting strict_setting(bool& strict);

/// The keys of all columns that a comparison can have, except the columns speedup_at_most_MACHINE.
std::vector<std::string> known_columns();
/// Checks a choice of columns. ConfigError: a name is not the key of any column (the message
/// suggests similar names), or both `wide` and names are given.
void check_columns(const ColumnChoice& columns);

}  // namespace pardec
