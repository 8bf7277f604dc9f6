#include "src/reproduction/item_choice.hpp"

#include <filesystem>
#include <set>

#include "src/reproduction/scale_inputs.hpp"
#include "src/store/store.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

StoredVerdicts stored_verdicts(const PaperCatalogue& papers, const std::string& db) {
  StoredVerdicts verdicts;
  std::error_code ignored;
  if (!std::filesystem::exists(db, ignored)) return verdicts;
  Store store(db, {.read_only = true});
  std::set<std::string> seen, decided;  // invocations; experiments with at least one decision
  for (const RunRow& run : store.find_runs({})) {  // newest first
    if (!run.experiment || decided.contains(run.experiment->name) ||
        !seen.insert(run.invocation).second)
      continue;
    for (const Reproduction& result : reproduced(papers, store, run.invocation))
      for (const ClaimFinding& finding : result.findings) {
        auto& of_item = verdicts[result.item->name];
        const bool decides = finding.verdict != ClaimVerdict::not_testable;
        if (decides) decided.insert(run.experiment->name);
        const auto newer = of_item.find(finding.claim->id);
        if (newer == of_item.end())
          of_item.emplace(finding.claim->id, finding);
        else if (decides && newer->second.verdict == ClaimVerdict::not_testable)
          newer->second = finding;
      }
  }
  return verdicts;
}

std::vector<const PaperItem*> chosen_items(const PaperCatalogue& papers, const std::string& paper,
                                           const std::string& item) {
  std::vector<const PaperItem*> chosen;
  if (!item.empty() && paper == "all")
    throw ConfigError(str("reproduce all takes no item, found '", item,
                          "'; expected a paper before it, or 'all' alone"));
  if (!item.empty()) return {&find_item(papers, paper, item)};
  for (const PaperItem& one : papers.items)
    if (paper == "all" || one.paper == paper) chosen.push_back(&one);
  if (chosen.empty()) {
    std::vector<std::string> known = paper_names();
    known.insert(known.end(), {"all", "list"});
    throw ConfigError(str("unknown paper '", paper, "'", known_names(paper, known)));
  }
  return chosen;
}

std::vector<const PaperItem*> items_of_shard(const std::vector<const PaperItem*>& items,
                                             const std::string& scale, const Shard& shard) {
  std::vector<const PaperItem*> chosen;
  std::map<std::string, size_t> runs;  // with their numbers
  for (const PaperItem* item : items) {
    const std::string work = work_of(*item, scale);
    if (!work.empty() && shard.has(runs.emplace(work, runs.size()).first->second))
      chosen.push_back(item);
  }
  return chosen;
}

void check_labels(const std::vector<const PaperItem*>& items, const ReproduceOptions& options) {
  std::set<std::string> networks, served;
  for (const PaperItem* item : items)
    if (item->scales.contains(options.scale)) {
      const Json scale = item->scale(options.scale);
      const Json models = scale.value("models", Json::object());
      for (const auto& [label, folders] : models.items()) networks.insert(label);
      for (const Json& arm : scale.value("decoders", Json::array()))
        if (is_served(arm)) served.insert(arm.value("label", arm.value("name", "")));
    }
  const auto check = [&](const char* setting, const std::string& label, const char* what,
                         const std::set<std::string>& labels) {
    if (!labels.contains(label))
      throw ConfigError(
          str("`", setting, "`: '", label, "' is no ", what, " of these at scale ", options.scale,
              known_names(label, std::vector<std::string>(labels.begin(), labels.end()))));
  };
  for (const GivenNetwork& given : options.models) check("model", given.label, "network", networks);
  for (const GivenService& given : options.services)
    check("service", given.label, "arm that a service answers", served);
}

}  // namespace pardec
