#pragma once
#include <string>

#include "src/scoring/labels.hpp"

namespace pardec {

/// A sheet for a spreadsheet: csv-safe, with empty columns verdict and comment.
std::string sheet_csv(const Sheet& sheet);

/// A page that opens offline in any browser: one item at a time, keys for verdicts, what was said
/// kept in the browser, and a button that writes it to a file for `judge import`.
std::string sheet_page(const Sheet& sheet);

}  // namespace pardec
