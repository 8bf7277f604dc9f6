#pragma once
#include <string>

#include "src/scoring/labels.hpp"

namespace pardec {

/// A sheet for a spreadsheet: csv in which no cell is read as a formula, with empty columns verdict
/// and comment.
std::string sheet_csv(const Sheet& sheet);

/// A page that works offline in any browser: shows one item at a time, has keys for verdicts, keeps
/// the verdicts in the browser, and has a button that saves them to a file for `judge import`.
std::string sheet_page(const Sheet& sheet);

}  // namespace pardec
