#include "src/reproduction/paper_differences.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "src/checkpoint/checkpoint.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

double parameters_of(const RunRow& run) { return run.model.shape.value("parameters", 0.0); }

/// "135 M", "8.2 B"
std::string size_text(double parameters) {
  return parameters >= 1e9 ? str(fixed(parameters / 1e9, 1), " B")
                           : str(fixed(parameters / 1e6, 0), " M");
}

std::string setting(const PaperItem& item, const char* key) {
  const Json& all = item.published.setting;
  const Json value = all.is_object() ? all.value(key, Json()) : Json();
  return value.is_null()     ? "not stated"
         : value.is_string() ? value.get<std::string>()
                             : dump(value);
}

/// A short description of a network's training, from its record; empty: there is no record.
std::string training_text(const std::string& folder) {
  try {
    const TrainingRecord record = read_training_record(folder);
    if (!record.formats) return "";
    std::vector<std::string> words;
    for (const char* key : {"steps", "epochs", "lr"})
      if (record.settings.value(key, Json(0)) != 0)
        words.push_back(str(key, " ", dump(record.settings[key])));
    return str(", trained with ", join(*record.formats, " and "), words.empty() ? "" : " (",
               join(words, ", "), words.empty() ? "" : ")");
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

bool is_smaller(const PaperItem& item, const Overview& comparison) {
  const Json& all = item.published.setting;
  const double theirs = all.is_object() ? all.value("parameters", 0.0) : 0.0;
  return std::any_of(comparison.arms.begin(), comparison.arms.end(), [&](const ArmFinding& arm) {
    const RunRow& run = arm.run.run;
    return parameters_of(run) < 0.9 * theirs || run.config.value("limit", 0) > 0 ||
           run.config.value("offset", 0) > 0;
  });
}

std::vector<Difference> differences_from(const PaperItem& item, const Overview& comparison,
                                         const std::vector<JudgedShare>& judged) {
  using Of = Difference::Of;
  std::vector<Difference> lines;
  std::map<std::string, std::vector<std::string>> networks, batches;
  std::set<std::string> data, types, machines, oracles, untrained;
  for (const ArmFinding& arm : comparison.arms) {
    const RunRow& run = arm.run.run;
    const auto add = [&](std::vector<std::string>& labels) {
      if (std::find(labels.begin(), labels.end(), run.label) == labels.end())
        labels.push_back(run.label);
    };
    add(networks[str(std::filesystem::path(run.model.path).filename().string(), " of ",
                     size_text(parameters_of(run)), training_text(run.model.path))]);
    add(batches[str(run.batch_size)]);
    types.insert(run.dtype);
    machines.insert(
        str(run.environment.value("processor", run.device), ", ", counted(run.threads, "thread")));
    if (run.oracle) oracles.insert(*run.oracle);
    if (run.untrained) untrained.insert(run.label);
    data.insert(str(run.dataset.name, " ", run.dataset.split_text(), ", ", arm.run.examples,
                    " examples", run.dataset.sample ? " (the project's own sample)" : ""));
  }
  const auto by_label = [](const std::map<std::string, std::vector<std::string>>& values) {
    std::vector<std::string> parts;
    for (const auto& [value, labels] : values)
      parts.push_back(values.size() == 1 ? value : str(join(labels, ", "), ": ", value));
    return join(parts, "; ");
  };
  const auto listed = [](const std::set<std::string>& values) {
    return join(std::vector<std::string>(values.begin(), values.end()), "; ");
  };
  const auto differs = [&](Of of, const char* what, const std::string& here, const char* key) {
    lines.push_back({of, str("differs: ", what, ": ", here, " (paper: ", setting(item, key), ")")});
  };
  differs(Of::network, "network", by_label(networks), "network");
  differs(Of::type, "type", listed(types), "dtype");
  differs(Of::machine, "machine", listed(machines), "hardware");
  differs(Of::data, "data", listed(data), "data");
  differs(Of::jobs, "jobs in flight", by_label(batches), "batch");
  std::map<std::string, std::vector<std::string>> judges;
  for (const JudgedShare& share : judged)
    judges[str(share.judge, " (", share.protocol, ")")].push_back(
        str(share.dataset, " ", share.arm, " ", share.scored, " of ", share.of));
  for (const auto& [judge, counts] : judges)
    differs(Of::judge, "judge", str(judge, ", a verdict on ", join(counts, ", ")), "judge");
  if (!oracles.empty())
    lines.push_back({Of::oracle, str("differs: forced: `oracle` ", listed(oracles))});
  if (!untrained.empty())
    lines.push_back({Of::training, str("differs: not trained on its format: the network of ",
                                       listed(untrained))});
  for (const Doubt& doubt : item.published.doubts) {
    std::string at = doubt.at.is_null() ? "" : dump(doubt.at) + ": ";
    lines.push_back({std::nullopt, str("doubt: ", at, doubt.why)});
  }
  return lines;
}

}  // namespace pardec
