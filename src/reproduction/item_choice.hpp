#pragma once
#include <map>
#include <string>
#include <vector>

#include "src/reproduction/claims.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/reproduction/reproduce.hpp"

/// Of the papers' items: which are meant, and what is known of them.
namespace pardec {

/// Findings by the item's name and the claim's. The catalogue outlives them.
using StoredVerdicts = std::map<std::string, std::map<std::string, ClaimFinding>>;

/// The newest that the database holds; of what measured nothing only where nothing else did.
StoredVerdicts stored_verdicts(const PaperCatalogue& papers, const std::string& db);

/// `paper`: "all" for those of all; `item` empty: all of the paper. ConfigError: there is none.
std::vector<const PaperItem*> chosen_items(const PaperCatalogue& papers, const std::string& paper,
                                           const std::string& item);

/// ConfigError where a label is no network of these items at this scale.
void check_labels(const std::vector<const PaperItem*>& items, const std::string& scale,
                  const std::vector<GivenNetwork>& models);

}  // namespace pardec
