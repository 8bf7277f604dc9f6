#pragma once
#include <map>
#include <string>
#include <vector>

#include "src/reproduction/claims.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/reproduction/reproduce.hpp"

/// Selects items of papers, and reads their stored verdicts.
namespace pardec {

/// Findings by the names of item and claim. The catalogue must outlive them.
using StoredVerdicts = std::map<std::string, std::map<std::string, ClaimFinding>>;

/// The newest verdicts in the database. Verdicts without any measurement are only used if there are
/// no others.
StoredVerdicts stored_verdicts(const PaperCatalogue& papers, const std::string& db);

/// `paper`: "all" selects the items of all papers. `item`: empty selects all items of the paper.
/// ConfigError: there is no such item.
std::vector<const PaperItem*> chosen_items(const PaperCatalogue& papers, const std::string& paper,
                                           const std::string& item);

/// ConfigError: a label of `models` or `services` is no network, or no arm that a service answers,
/// of these items at this scale.
void check_labels(const std::vector<const PaperItem*>& items, const ReproduceOptions& options);

}  // namespace pardec
