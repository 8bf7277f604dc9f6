#pragma once
#include <map>
#include <string>
#include <vector>

#include "src/reproduction/claims.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/reproduction/reproduce.hpp"
#include "src/runs/run_spec.hpp"

/// Selects items of papers, and reads their stored verdicts.
namespace pardec {

/// Findings by item name and claim id. The catalogue must outlive them.
using StoredVerdicts = std::map<std::string, std::map<std::string, ClaimFinding>>;

/// The verdicts on claims in the database `db`; empty if the file does not exist. For each
/// experiment (the work of an item at a scale), these are the verdicts of the newest invocation
/// that could test at least one claim; older invocations are not used. The verdict
/// ClaimVerdict::not_testable is used only if there is no other verdict. StoreError: the file
/// cannot be read.
StoredVerdicts stored_verdicts(const PaperCatalogue& papers, const std::string& db);

/// `paper`: "all" selects the items of all papers. `item`: empty selects all items of the paper.
/// ConfigError: there is no such paper or item, or an item is given with "all".
std::vector<const PaperItem*> chosen_items(const PaperCatalogue& papers, const std::string& paper,
                                           const std::string& item);

/// The items whose results come from every N-th run, beginning with run I. Runs are counted in the
/// order of `items`; several items may share a run (work_of). Items that need no run belong to no
/// shard.
std::vector<const PaperItem*> items_of_shard(const std::vector<const PaperItem*>& items,
                                             const std::string& scale, const Shard& shard);

/// Checks the labels in options.models and options.services. ConfigError: options.models has a
/// label that is no network of these items at options.scale, or options.services has a label that
/// is no arm for a service.
void check_labels(const std::vector<const PaperItem*>& items, const ReproduceOptions& options);

}  // namespace pardec
