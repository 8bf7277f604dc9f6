#pragma once
#include <string>
#include <vector>

#include "src/report/table.hpp"
#include "src/reproduction/claims.hpp"
#include "src/reproduction/evidence.hpp"
#include "src/reproduction/item_choice.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/reproduction/reproduce.hpp"

namespace pardec {

/// A paper's numbers with what was measured beside them, `where` e.g. "scale small". Of numbers
/// without a counterpart here the measured side is empty, or with `measured_only` they are counted
/// alone; `differs` become the notes.
Table published_table(const PaperItem& item, const std::string& where, const Evidence& evidence,
                      const std::vector<Difference>& differs, bool measured_only = false);

/// What was measured of the arms at each place, with no number of the paper beside: of rooflines.
Table bounds_table(const PaperItem& item, const Evidence& evidence,
                   const std::vector<std::string>& arms, const std::string& baseline,
                   const std::vector<Difference>& differs);

/// What was found of one item.
struct ReproducedItem {
  const PaperItem* item;
  Table table;  ///< published_table() or bounds_table()
  std::vector<ClaimFinding> findings;
};
/// See published_table() for `measured_only`.
ReproducedItem shown(const Reproduction& result, bool measured_only);

/// A verdict for each claim; those of several items have a column that names it.
Table claims_table(const std::vector<ReproducedItem>& items, const std::string& title);

/// All tables and figures of the papers, with the newest verdicts, e.g. "confirmed (scaled)".
Table papers_table(const PaperCatalogue& papers, const StoredVerdicts& verdicts);

}  // namespace pardec
