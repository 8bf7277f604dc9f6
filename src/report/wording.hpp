#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace pardec {

struct Report;
struct Table;

/// A function that converts a message for readers. Messages have names of settings in backquotes:
/// `batch_size` or, with a value, `dtype=bf16`. The command line replaces these names by its flags
/// (--batch-size, --dtype bf16). Empty: messages stay unchanged.
using Wording = std::function<std::string(std::string_view)>;

/// Converts one message.
std::string worded(std::string text, const Wording& wording);

/// Converts the table's conclusion, notes and warnings, and the cells of columns with
/// Column::messages. Other cells are unchanged, because they may contain text from networks or
/// datasets.
Table worded(Table table, const Wording& wording);

/// Converts the report's tables and other texts. In the examples, only error messages are
/// converted.
Report worded(Report report, const Wording& wording);

}  // namespace pardec
