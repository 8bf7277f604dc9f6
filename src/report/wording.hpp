#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace pardec {

struct Report;
struct Table;

/// Converts names of settings in messages for readers. Messages have the name of a setting in
/// backquotes, `batch_size` or, with a value, `dtype=bf16`; a user interface replaces the name in
/// backquotes with its own name for that setting (--batch-size). Takes a message and returns the
/// converted one. Empty: messages stay unchanged.
using Wording = std::function<std::string(std::string_view)>;

std::string worded(std::string text, const Wording& wording);

/// Converts conclusion, notes, warnings, and cells of columns with messages. Other cells stay
/// unchanged, since networks or datasets may have written them.
Table worded(Table table, const Wording& wording);

/// Converts the report's tables and its other texts. Of the examples, only the errors of failed
/// ones are converted.
Report worded(Report report, const Wording& wording);

}  // namespace pardec
