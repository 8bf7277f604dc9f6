#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "src/report/table.hpp"

namespace pardec {

/// A table for a terminal, with all columns of `table`: title, columns separated by spaces,
/// conclusion, warnings, notes. `wording`: converts the warnings.
///
/// No line is wider than the screen, unless the screen is too narrow for two columns of one letter.
/// If the table is too wide, headers are wrapped first. If that is not enough, cells are wrapped
/// too; an interval [a, b] is not broken. If the table is still too wide, or has more than five
/// columns and rows of more than four lines, the columns are split into bands. The bands are
/// printed one below the other, and each band repeats the columns that identify the rows.
std::string text_table(const Table& table, const Screen& screen, const Wording& wording = {});

/// Wraps a text into lines of at most `width` columns (at least 1). Breaks lines at spaces outside
/// square brackets. A word that is longer than `width` is broken after , / - _ or +, or, if it has
/// none of these, anywhere. An empty text gives one empty line.
std::vector<std::string> wrapped(std::string_view text, int width);

}  // namespace pardec
