#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "src/report/table.hpp"

namespace pardec {

/// A table for a terminal, with all columns: title, columns separated by spaces, conclusion,
/// warnings, notes. No line is wider than the screen. If necessary, headers are wrapped, then cells
/// (an interval [a, b] stays whole and moves below its estimate), and then the columns are split
/// into bands one below the other, each including the columns that identify the rows.
std::string text_table(const Table& table, const Screen& screen, const Wording& wording = {});

/// Wraps a text into lines of at most `width` columns. Breaks at spaces outside brackets. Longer
/// words are broken after , / - _ or +, otherwise anywhere.
std::vector<std::string> wrapped(std::string_view text, int width);

}  // namespace pardec
