#pragma once
#include <string>
#include <vector>

#include "src/report/printed_figure.hpp"
#include "src/report/table.hpp"
#include "src/reproduction/claims.hpp"
#include "src/reproduction/evidence.hpp"
#include "src/reproduction/item_choice.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/reproduction/rehearsal.hpp"
#include "src/reproduction/reproduce.hpp"
#include "src/reproduction/weights.hpp"

namespace pardec {

/// A table with a paper's numbers next to the measured ones. `scale`: the scale of the evidence;
/// empty: there is none. The paper's numbers for other settings than the item's (Matching::shown)
/// are left out, and a note counts them. Numbers that were not measured have "-" in the measured
/// columns; with `measured_only`, their rows are left out, and a note counts them. `differs`:
/// differences from the paper's measurement, shown as notes.
Table published_table(const PaperItem& item, const std::string& scale, const Evidence& evidence,
                      const std::vector<Difference>& differs, bool measured_only = false);

/// A table of bounds by the roofline, for each arm and place of the evidence (Evidence::places):
/// tokens and rows per pass, tokens per example, and the highest possible speedup over `baseline`.
/// It has no numbers of the paper. `differs`: see published_table().
Table bounds_table(const PaperItem& item, const Evidence& evidence,
                   const std::vector<std::string>& arms, const std::string& baseline,
                   const std::vector<Difference>& differs);

/// The results of one item.
struct ReproducedItem {
  const PaperItem* item;  ///< must outlive this object
  Table table;            ///< from published_table() or bounds_table()
  std::vector<ClaimFinding> findings;
  /// commit and date ("2026-01-31") of the measurement; empty: nothing was measured
  std::string commit = {}, measured_utc = {};
  std::vector<NamedFigure> figures = {};  ///< from printed_figures(); empty if not asked for
};
/// The results of an item, with bounds_table() if the scale is a bound, and with published_table()
/// otherwise. `measured_only`: see published_table(). `with_figures`: whether to compute the
/// figures, which takes much longer than the table.
ReproducedItem reproduced_item(const Reproduction& result, bool measured_only, bool with_figures);

/// A table with one verdict per claim. If there are several items, a column names the item.
Table claims_table(const std::vector<ReproducedItem>& items, const std::string& title);

/// A list of all tables and figures of the papers, with the newest verdicts that decided anything,
/// e.g. "confirmed (scaled)".
Table papers_table(const PaperCatalogue& papers, const StoredVerdicts& verdicts);

/// A table of the networks that claims need and that must be trained first, with their data and
/// training time.
Table weights_table(const std::vector<WantedNetwork>& wanted);

/// A table of the dry run of an item: its arms, the networks that they need, and what is missing.
Table rehearsal_table(const Rehearsal& rehearsal);

}  // namespace pardec
