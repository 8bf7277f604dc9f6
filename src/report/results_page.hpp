#pragma once
#include <string>
#include <vector>

#include "src/report/reproduction_table.hpp"
#include "src/report/wording.hpp"
#include "src/support/json.hpp"

/// The page with all verdicts (experiments/papers/RESULTS.md), and the export beside it that it is
/// made from.
namespace pardec {

/// A verdict on a claim, in the words of the page.
struct ResultRow {
  std::string item, claim, says, published;
  std::string verdict;               ///< name of a ClaimVerdict
  std::string measured;              ///< each part with its 95 % interval
  std::string how;                   ///< "scaled, stand-in": how the verdict was come by
  std::string why;                   ///< what is missing, and what decided
  std::string by_construction;       ///< why it cannot fail; empty: it can
  std::string command;               ///< that measures the item again
  std::string commit, measured_utc;  ///< of the measurement

  bool operator==(const ResultRow&) const = default;
};

/// The content of the page.
struct ResultsPage {
  std::string command;   ///< that made all of it
  std::string made_utc;  ///< "2026-01-31"
  std::string commit, machine;
  std::vector<ResultRow> rows;

  bool operator==(const ResultsPage&) const = default;
};

/// The verdicts on the claims of these items. `command`: as above. `wording` is applied to all
/// messages.
ResultsPage results_page(const std::vector<ReproducedItem>& items, const std::string& command,
                         const Wording& wording);

/// The export. read_results() gives the same page. ConfigError, with `where`.
OrderedJson json_of(const ResultsPage& page);
ResultsPage read_results(const Json& json, const std::string& where);

/// The page as Markdown: refuted claims first, claims that cannot fail last. Equal pages give equal
/// bytes.
std::string render_results(const ResultsPage& page);

}  // namespace pardec
