#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace pardec {

struct Report;
struct Table;

/// How readers are told what a message names: messages have the name of a setting in backquotes,
/// `batch_size` or, with a value, `dtype=bf16`, and whoever prints them has names of its own for it
/// (--batch-size). Takes a message, returns it with those. Empty: as it is written.
using Wording = std::function<std::string(std::string_view)>;

std::string worded(std::string text, const Wording& wording);

/// Conclusion, notes, warnings, and the cells of columns that hold messages. Other cells stay
/// as they are: a network or a dataset may have written them.
Table worded(Table table, const Wording& wording);

/// Its tables, and what it says itself; not its examples' texts, but the errors of those that
/// failed.
Report worded(Report report, const Wording& wording);

}  // namespace pardec
