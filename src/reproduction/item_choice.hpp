#pragma once
#include <map>
#include <string>
#include <vector>

#include "src/reproduction/claims.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/reproduction/reproduce.hpp"

/// Selects items of papers, and reads their stored verdicts.
namespace pardec {

/// Findings by item name and claim id. The catalogue must outlive them.
using StoredVerdicts = std::map<std::string, std::map<std::string, ClaimFinding>>;

/// The newest verdict on each claim in the database `db`; nothing if the file does not exist. The
/// verdict ClaimVerdict::not_testable is used only if there is no other verdict. StoreError: the
/// file cannot be read.
StoredVerdicts stored_verdicts(const PaperCatalogue& papers, const std::string& db);

/// `paper`: "all" selects the items of all papers. `item`: empty selects all items of the paper.
/// ConfigError: there is no such paper or item, or an item is given with "all".
std::vector<const PaperItem*> chosen_items(const PaperCatalogue& papers, const std::string& paper,
                                           const std::string& item);

/// Checks the labels in options.models and options.services. ConfigError: options.models has a
/// label that is no network of these items at options.scale, or options.services has a label that
/// is no arm for a service.
void check_labels(const std::vector<const PaperItem*>& items, const ReproduceOptions& options);

}  // namespace pardec
