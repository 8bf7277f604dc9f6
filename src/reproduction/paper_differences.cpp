#include "src/reproduction/paper_differences.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "src/checkpoint/checkpoint.hpp"
#include "src/support/error.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

double parameters_of(const RunRow& run) { return run.model.shape.value("parameters", 0.0); }

/// "135 M", "8.2 B"; 0: the network of a service
std::string size_text(double parameters) {
  if (parameters == 0) return "unknown size";
  return parameters >= 1e9 ? str(fixed(parameters / 1e9, 1), " B")
                           : str(fixed(parameters / 1e6, 0), " M");
}

/// "greedy", or "temperature 0.7, top-k 20, top-p 0.8"
std::string sampling_text(const RunRow& run) {
  const auto value = [&](const char* key) { return run.config.value(key, 0.0); };
  if (value("temperature") == 0) return "greedy";
  std::string text = str("temperature ", value("temperature"));
  if (value("top_k") > 0) text += str(", top-k ", value("top_k"));
  if (value("top_p") > 0 && value("top_p") < 1) text += str(", top-p ", value("top_p"));
  return text;
}

/// The GPU, or the processor with its threads.
std::string machine_text(const RunRow& run) {
  if (run.device != "cpu" && !run.device.empty()) {
    const auto gpus = run.environment.value("gpus", std::vector<std::string>());
    const std::size_t colon = run.device.find(':');
    const std::size_t index =
        colon == std::string::npos ? 0 : std::stoul("0" + run.device.substr(colon + 1));
    return index < gpus.size() ? str(gpus[index], " (", run.device, ")") : run.device;
  }
  return str(run.environment.value("processor", run.device), ", ", counted(run.threads, "thread"));
}

constexpr const char* kNotStated = "not stated";

std::string setting(const PaperItem& item, const char* key) {
  const Json& all = item.published.setting;
  const Json value = all.is_object() ? all.value(key, Json()) : Json();
  return value.is_null() ? kNotStated : value.is_string() ? value.get<std::string>() : dump(value);
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
    for (const std::string& format : *record.formats)
      for (const char* key : {"k", "ar_share"})
        if (const Json own = record.settings.value(format, Json::object()); own.contains(key))
          words.push_back(str(key, " ", dump(own[key])));
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
  const int examples = all.is_object() ? all.value("examples", 0) : 0;
  return std::any_of(comparison.arms.begin(), comparison.arms.end(), [&](const ArmFinding& arm) {
    const RunRow& run = arm.run.run;
    const int limit = run.config.value("limit", 0);
    const bool fewer = limit > 0 && (examples == 0 || limit < examples);
    const double ours = parameters_of(run);
    return (ours > 0 && ours < 0.9 * theirs) || fewer || run.config.value("offset", 0) > 0;
  });
}

std::vector<Warning> unlike_papers_training(const PaperItem& item, const Overview& comparison) {
  const Json& setting = item.published.setting;
  const Json wanted = setting.is_object() ? setting.value("training", Json()) : Json();
  std::vector<Warning> warnings;
  if (!wanted.is_object()) return warnings;
  for (const ArmFinding& arm : comparison.arms) {
    const RunRow& run = arm.run.run;
    if (run.oracle || !find_decoder(run.decoder).trained) continue;
    try {
      const TrainingRecord record = read_training_record(run.model.path);
      const Json own = record.settings.value(run.decoder, Json::object());
      std::vector<std::string> others;
      for (const auto& [key, theirs] : wanted.items())
        if (own.contains(key) && own[key] != theirs)
          others.push_back(
              str("trained with ", key, " ", dump(own[key]), ", in the paper ", dump(theirs)));
      if (!others.empty())
        warnings.push_back({"untaught", run.dataset.name, run.label, join(others, ", "), ""});
    } catch (const Error&) {  // no record says how it was trained
    }
  }
  return warnings;
}

std::vector<Difference> differences_from(const PaperItem& item, const Overview& comparison,
                                         const std::vector<JudgedShare>& judged) {
  using Of = Difference::Of;
  std::vector<Difference> lines;
  std::map<std::string, std::vector<std::string>> networks, batches, sampling, limits;
  std::map<std::string, std::map<std::string, std::vector<std::string>>> options;
  std::set<std::string> data, types, machines, oracles, untrained;
  for (const ArmFinding& arm : comparison.arms) {
    const RunRow& run = arm.run.run;
    const auto add = [&](std::vector<std::string>& labels) {
      if (std::find(labels.begin(), labels.end(), run.label) == labels.end())
        labels.push_back(run.label);
    };
    add(networks[str(checkpoint_name(run.model.path), " of ", size_text(parameters_of(run)),
                     training_text(run.model.path))]);
    add(batches[str(run.batch_size)]);
    types.insert(run.dtype);
    add(sampling[sampling_text(run)]);
    if (const auto limit = run.config.value("max_new_tokens", std::int64_t{0}); limit > 0)
      add(limits[str(limit)]);
    // A paper that does not state `stack` puts one example into a job.
    for (const char* option : {"stack", "k"})
      if (const Json value = run.options.value(option, Json());
          value.is_number() && find_decoder(run.decoder).trained &&
          (value != 1 || setting(item, option) != kNotStated))
        add(options[option][dump(value)]);
    machines.insert(machine_text(run));
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
  const auto differs_if = [&](Of of, const char* what, const std::string& here, const char* key) {
    if (!here.empty() && here != setting(item, key)) differs(of, what, here, key);
  };
  differs_if(Of::network, "network", by_label(networks), "network");
  differs_if(Of::type, "type", listed(types), "dtype");
  differs_if(Of::machine, "machine", listed(machines), "hardware");
  differs_if(Of::data, "data", listed(data), "data");
  differs_if(Of::jobs, "jobs at the same time", by_label(batches), "batch");
  differs_if(Of::sampling, "sampling", by_label(sampling), "sampling");
  differs_if(Of::limit, "most new tokens", by_label(limits), "max_new_tokens");
  differs_if(Of::option, "examples in a job (stack)", by_label(options["stack"]), "stack");
  differs_if(Of::option, "guesses in a pass (k)", by_label(options["k"]), "k");
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
