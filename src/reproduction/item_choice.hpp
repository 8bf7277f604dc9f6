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

/// Name of an item -> id of a claim -> finding. The catalogue must outlive the findings.
using StoredVerdicts = std::map<std::string, std::map<std::string, ClaimFinding>>;

/// The verdicts on claims, from the runs in the database `db`. Empty: the file does not exist.
/// Scales with the same key (work_of) share their runs. For each such key, the verdicts come from
/// the newest invocation that could test at least one claim; older invocations with this key are
/// not used. If several scales test the same claim, the result has the newest verdict on this claim
/// that is not ClaimVerdict::not_testable. StoreError: the file cannot be read.
StoredVerdicts stored_verdicts(const PaperCatalogue& papers, const std::string& db);

/// Selects items. `paper`: "all" selects the items of all papers. `item`: empty selects all items
/// of the paper; otherwise see find_item. ConfigError: there is no such paper or item, or an item
/// is given with "all".
std::vector<const PaperItem*> chosen_items(const PaperCatalogue& papers, const std::string& paper,
                                           const std::string& item);

/// The items that belong to a shard. The runs that the items need are numbered in the order of
/// `items`; several items may share a run (work_of). A shard has every N-th run (Shard::has). Items
/// that need no run belong to no shard.
std::vector<const PaperItem*> items_of_shard(const std::vector<const PaperItem*>& items,
                                             const std::string& scale, const Shard& shard);

/// Checks the labels in options.models and options.services. ConfigError: a label in options.models
/// belongs to no network of these items at options.scale, or a label in options.services belongs to
/// no arm that a service answers.
void check_labels(const std::vector<const PaperItem*>& items, const ReproduceOptions& options);

}  // namespace pardec
