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

/// A paper's numbers next to the measured ones. `where`: e.g. "scale small". Numbers without a
/// counterpart have empty measured cells; with `measured_only`, such rows are left out and only
/// counted. `differs` become the notes.
Table published_table(const PaperItem& item, const std::string& where, const Evidence& evidence,
                      const std::vector<Difference>& differs, bool measured_only = false);

/// For rooflines: the computed bounds of the arms at each place, without numbers of the paper.
Table bounds_table(const PaperItem& item, const Evidence& evidence,
                   const std::vector<std::string>& arms, const std::string& baseline,
                   const std::vector<Difference>& differs);

/// The results of one item.
struct ReproducedItem {
  const PaperItem* item;
  Table table;  ///< from published_table() or bounds_table()
  std::vector<ClaimFinding> findings;
};
/// `measured_only`: as for published_table().
ReproducedItem shown(const Reproduction& result, bool measured_only);

/// A verdict for each claim; with several items, a column names the item.
Table claims_table(const std::vector<ReproducedItem>& items, const std::string& title);

/// All tables and figures of the papers, with the newest verdicts, e.g. "confirmed (scaled)".
Table papers_table(const PaperCatalogue& papers, const StoredVerdicts& verdicts);

}  // namespace pardec
