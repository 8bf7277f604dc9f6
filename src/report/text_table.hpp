#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "src/report/table.hpp"

namespace pardec {

/// A table for a terminal, all of its columns: title, columns without lines between them,
/// conclusion, warnings, notes. No line is wider than the screen: headers go over several lines,
/// then cells (an interval [a, b] stays whole, and goes below its estimate), then the columns are
/// laid in bands one below the other, each with the columns that name the rows.
std::string text_table(const Table& table, const Screen& screen, const Wording& wording = {});

/// The lines of a text, at most `width` columns each. Breaks at spaces that stand in no brackets;
/// what is wider than a line after , / - _ or +, else anywhere.
std::vector<std::string> wrapped(std::string_view text, int width);

}  // namespace pardec
