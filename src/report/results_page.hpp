#pragma once
#include <string>
#include <vector>

#include "src/report/reproduction_table.hpp"
#include "src/report/wording.hpp"
#include "src/support/json.hpp"

/// The page with all verdicts (experiments/papers/RESULTS.md), and the JSON export from which it is
/// generated.
namespace pardec {

/// One verdict as the page shows it: each member is the text of a cell. `item`: PaperItem::name.
/// `claim`: Claim::id. `says`: the statement of the claim. `published`: the paper's numbers.
struct ResultRow {
  std::string item, claim, says, published;
  std::string verdict;               ///< name of a ClaimVerdict
  std::string measured;              ///< measured value of each part, with its 95 % interval
  std::string how;                   ///< conditions of the measurement, e.g. "scaled, stand-in"
  std::string why;                   ///< what decided the verdict, or what is missing
  std::string by_construction;       ///< why the claim cannot fail; empty: it can
  std::string command;               ///< command that measures the item again
  std::string commit, measured_utc;  ///< commit and date of the measurement

  bool operator==(const ResultRow&) const = default;
};

/// The content of the page.
struct ResultsPage {
  std::string command;          ///< command that made the page
  std::string made_utc;         ///< date on which the page was made, e.g. "2026-01-31"
  std::string commit, machine;  ///< commit of the program and machine that made the page
  std::vector<ResultRow> rows;

  bool operator==(const ResultsPage&) const = default;
};

/// Creates the page for the claims of these items, with today's date, this program's commit and
/// this machine. `command`: see ResultsPage. `wording` is applied to the messages and to the
/// commands of the rows.
ResultsPage results_page(const std::vector<ReproducedItem>& items, const std::string& command,
                         const Wording& wording);

/// The JSON export of the page.
OrderedJson json_of(const ResultsPage& page);
/// Reads a page from its JSON export. `where`: beginning of error messages. ConfigError: the export
/// is invalid.
ResultsPage read_results(const Json& json, const std::string& where);

/// The page as Markdown, with a section for each verdict. Refuted claims come first. Claims that
/// cannot fail come last, and are not counted with the verdicts. Equal pages give equal bytes.
std::string render_results(const ResultsPage& page);

}  // namespace pardec
