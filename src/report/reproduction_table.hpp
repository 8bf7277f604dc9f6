#pragma once
#include <string>
#include <vector>

#include "src/report/table.hpp"
#include "src/reproduction/claims.hpp"
#include "src/reproduction/evidence.hpp"
#include "src/reproduction/item_choice.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/reproduction/rehearsal.hpp"
#include "src/reproduction/reproduce.hpp"
#include "src/reproduction/weights.hpp"

namespace pardec {

/// A paper's numbers next to the measured ones. `scale`: that of the evidence; empty: there is
/// none. Numbers without a counterpart have empty measured cells; with `measured_only`, such rows
/// are left out and only counted. `differs` become the notes.
Table published_table(const PaperItem& item, const std::string& scale, const Evidence& evidence,
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
  std::string commit = {}, measured_utc = {};  ///< of the measurement; empty: there is none
};
/// `measured_only`: as for published_table().
ReproducedItem shown(const Reproduction& result, bool measured_only);

/// A verdict for each claim; with several items, a column names the item.
Table claims_table(const std::vector<ReproducedItem>& items, const std::string& title);

/// All tables and figures of the papers, with the newest verdicts, e.g. "confirmed (scaled)".
Table papers_table(const PaperCatalogue& papers, const StoredVerdicts& verdicts);

/// Networks that claims need and that are to be trained: from which data, and how long.
Table weights_table(const std::vector<WantedNetwork>& wanted);

/// What a dry run of an item did: the arms, the networks that they need, and what lacks.
Table rehearsal_table(const Rehearsal& rehearsal);

}  // namespace pardec
