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

/// A table with a paper's numbers next to the measured numbers, which have the paper's unit.
/// `scale`: the scale of the evidence; empty: the item has no scale. Numbers of the paper for which
/// Matching::shown is false are left out, and a note counts them. Numbers of the paper that have no
/// measured number have "-" in the measured columns. If `measured_only` is set, the rows of these
/// numbers are left out, and a note counts them. `differs`: differences from the paper's
/// measurement, shown as notes. Errors: see PaperItem::match_at.
Table published_table(const PaperItem& item, const std::string& scale, const Evidence& evidence,
                      const std::vector<Difference>& differs, bool measured_only = false);

/// A table of bounds by the roofline, with a row for each of `arms` (labels) at each place of the
/// evidence (Evidence::places): tokens and rows per pass, tokens per example, and the highest
/// possible speedup over `baseline`. Arms without traces are left out. The table has no numbers of
/// the paper. `differs`: see published_table().
Table bounds_table(const PaperItem& item, const Evidence& evidence,
                   const std::vector<std::string>& arms, const std::string& baseline,
                   const std::vector<Difference>& differs);

/// The results of one item.
struct ReproducedItem {
  const PaperItem* item;  ///< must outlive this object
  Table table;            ///< from published_table() or bounds_table()
  std::vector<ClaimFinding> findings;
  /// commit and date ("2026-01-31") of the measurement; empty: there is no stored run
  std::string commit = {}, measured_utc = {};
  std::vector<NamedFigure> figures = {};  ///< from printed_figures(); empty if not asked for
};
/// The results of an item for tables and pages. If the scale is a bound, the table is
/// bounds_table(), otherwise published_table(). `measured_only`: see published_table().
/// `with_figures`: whether to compute the figures, which takes much longer than the table. Errors:
/// see PaperItem::scale.
ReproducedItem reproduced_item(const Reproduction& result, bool measured_only, bool with_figures);

/// A table with one row for each finding: the claim, its verdict, and what was measured. If there
/// are several items, a column names the item.
Table claims_table(const std::vector<ReproducedItem>& items, const std::string& title);

/// A table of all tables and figures of the papers, with their scales and claims, and with the
/// verdicts, e.g. "D1 confirmed (scaled)". Without verdicts, text, md and latex have no column for
/// them.
Table papers_table(const PaperCatalogue& papers, const StoredVerdicts& verdicts);

/// A table of the networks that claims need and that must be trained first (wanted_networks), with
/// their data and training time.
Table weights_table(const std::vector<WantedNetwork>& wanted);

/// A table of the dry run of an item: its arms, the networks that they need, and what is missing.
Table rehearsal_table(const Rehearsal& rehearsal);

}  // namespace pardec
