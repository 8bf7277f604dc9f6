#pragma once
#include <string>

#include "src/scoring/labels.hpp"

namespace pardec {

/// A sheet for human judges as csv, with empty columns verdict and comment. A spreadsheet reads no
/// cell as a formula.
std::string sheet_csv(const Sheet& sheet);

/// A sheet for human judges as an HTML page that works offline. It shows one item at a time, and
/// has keyboard shortcuts for verdicts. The browser stores the verdicts; a button saves them to a
/// file for `judge import`.
std::string sheet_page(const Sheet& sheet);

}  // namespace pardec
