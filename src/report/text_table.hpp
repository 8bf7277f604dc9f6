#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "src/report/table.hpp"

namespace pardec {

/// A table for a terminal, with all columns: title, columns separated by spaces, conclusion,
/// warnings, notes. No line is wider than the screen. If the table is too wide, headers are wrapped
/// first. If that is not enough, cells are wrapped too (an interval [a, b] moves below its estimate
/// as a whole). In the last resort, the columns are split into bands one below the other, and each
/// band repeats the columns that identify the rows.
std::string text_table(const Table& table, const Screen& screen, const Wording& wording = {});

/// Wraps a text into lines of at most `width` columns. Breaks lines at spaces outside brackets. A
/// word that is longer than `width` is broken after , / - _ or +, or, if it has none of these,
/// anywhere.
std::vector<std::string> wrapped(std::string_view text, int width);

}  // namespace pardec
