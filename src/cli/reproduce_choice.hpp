#pragma once
#include <map>
#include <string>
#include <vector>

#include "src/reproduction/paper_item.hpp"

/// Of the papers' items: which are meant, and what is known of them.
namespace pardec {

/// The newest verdicts that the database holds, by item and claim; of what measured nothing only
/// where nothing else did.
std::map<std::string, std::map<std::string, std::string>> stored_verdicts(
    const PaperCatalogue& papers, const std::string& db);

/// `paper`: "all" for those of all; `item` empty: all of the paper. ConfigError: there is none.
std::vector<const PaperItem*> chosen_items(const PaperCatalogue& papers, const std::string& paper,
                                           const std::string& item);

/// `models`: LABEL=DIR. ConfigError where a label is no network of these items at this scale.
void check_labels(const std::vector<const PaperItem*>& items, const std::string& scale,
                  const std::vector<std::string>& models);

}  // namespace pardec
