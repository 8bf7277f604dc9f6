#include "src/cli/completion_values.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/runs/arms.hpp"
#include "src/scoring/judging.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/settings/run_settings.hpp"
#include "src/store/invocations.hpp"
#include "src/support/error.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Words = std::vector<std::string>;

constexpr size_t kShortId = 8;  ///< characters

/// Values of flags that are the same in every verb.
std::map<std::string, Words> fixed_values() {
  std::map<std::string, Words> values{
      {"--device", {"cpu", "cuda"}},
      {"--dtype", {"auto", "fp32", "bf16", "int8", "nf4", "gguf"}},
      {"--format", table_format_names()},
      {"--oracle", {"references", "recorded:", "accept:", "accept-length:", "accept-curve:"}},
      {"--protocol", protocol_names()},
      {"--references", {"auto", "always", "never"}},
  };
  RunSettings run;
  for (const Setting& setting : settings_of(run))
    if (!setting.traits.choices.empty()) values["--" + setting.name] = setting.traits.choices;
  return values;
}

template <typename Entries>
Words names_of_entries(const Entries& entries) {
  Words names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

Words chat_templates() {
  Words names{"auto", "checkpoint:"};
  for (const auto& name : chat_template_names()) names.emplace_back(name);
  return names;
}

Words machines() {
  Words names{"here"};
  std::error_code ignored;
  for (const auto& file :
       std::filesystem::directory_iterator(project_file("experiments/hardware"), ignored))
    names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// `hpd.k_max=`, including the value if an option has few values.
Words settings_of_decoders() {
  Words words;
  for (const DecoderEntry& entry : decoders())
    for (const Option& option : entry.options) {
      const std::string key = str(entry.name, ".", option.name, "=");
      if (option.type == Option::Type::flag)
        words.insert(words.end(), {key + "true", key + "false"});
      else if (option.choices.empty())
        words.push_back(key);
      for (const std::string_view choice : option.choices) words.push_back(str(key, choice));
    }
  return words;
}

/// Possible axes of --grid: options of decoders, and options of every arm.
Words axes() {
  Words words;
  std::set<std::string> of_decoders, of_all;
  for (const DecoderEntry& entry : decoders()) {
    const std::string decoder(entry.name);
    for (const std::string& option : names_of(entry.options)) of_decoders.insert(option);
    for (const std::string& option : arm_options(decoder)) of_all.insert(option);
    for (const std::string& option : names_of(entry.options))
      words.push_back(str(decoder, ".", option, "="));
  }
  for (const std::string& option : of_all)
    if (!of_decoders.contains(option)) words.push_back(option + "=");
  return words;
}

/// Possible values of plot --x: numeric options, and settings of runs.
Words abscissae() {
  Words words{"batch_size", "cache_blocks", "date", "seed"};
  for (const DecoderEntry& entry : decoders())
    for (const Option& option : entry.options)
      if (option.type == Option::Type::whole || option.type == Option::Type::number)
        words.push_back(str(entry.name, ".", option.name));
  return words;
}

Words metrics() {
  Words names;
  for (const TaskMetric& metric : task_metrics())
    if (!metric.by<ByJudge>()) names.emplace_back(metric.name);
  return names;
}

Words splits() {
  std::set<std::string> names;
  for (const DatasetEntry& entry : datasets())
    for (const auto& split : entry.splits) names.emplace(split);
  return {names.begin(), names.end()};
}

Words values(const std::map<std::string, Words>& fixed, const std::string& verb,
             const std::string& flag) {
  if (verb == "train" && flag == "--format") return {};  // NAME:SHARE, as described in its help
  if (verb == "export" && flag == "--format") return {"csv", "jsonl", "parquet"};
  if (verb == "generate" && flag == "--format") return {"text", "json"};
  if (const auto found = fixed.find(flag); found != fixed.end()) return found->second;
  if (flag == "--decoder") return names_of_entries(decoders());
  if (flag == "--dataset") return names_of_entries(datasets());
  if (flag == "--chat-template") return chat_templates();
  if (flag == "--hardware") return machines();
  if (flag == "--set") return settings_of_decoders();
  if (flag == "--grid") return axes();
  if (flag == "--metric") return metrics();
  if (flag == "--split") return splits();
  if (flag == "--columns" || flag == "--y") return known_columns();
  if (flag == "--x") return abscissae();
  if (flag == "--run" || flag == "--from-run") return {kRunWords};
  return {};
}

/// Adds papers, their items, and all scales of these items. Adds nothing if the papers' files are
/// missing.
void add_papers(std::map<std::string, Words>& words) {
  try {
    std::set<std::string> scales;
    const PaperCatalogue papers = read_papers();
    for (const PaperItem& item : papers.items) {
      words["reproduce/" + item.paper].push_back(item.file.stem().string());
      for (const auto& [scale, settings] : item.scales.items()) scales.insert(scale);
    }
    Words& first = words["reproduce/"];
    first = paper_names();
    first.insert(first.end(), {"all", "list"});
    words["reproduce:--scale"] = {scales.begin(), scales.end()};
  } catch (const Error&) {
  }
}

}  // namespace

std::map<std::string, Words> completion_words(const std::vector<Verb>& verbs) {
  const std::map<std::string, Words> fixed = fixed_values();
  std::map<std::string, Words> words;
  for (const Verb& verb : verbs) {
    CLI::App app(verb.summary, verb.name);
    verb.add(app);
    if (!verb.actions.empty()) words[verb.name + "/"] = verb.actions;
    for (const CLI::Option* option : app.get_options())
      for (const std::string& name : option->get_lnames())
        if (option->get_expected_max() > 0)
          if (Words found = values(fixed, verb.name, "--" + name); !found.empty())
            words[str(verb.name, ":--", name)] = std::move(found);
  }
  add_papers(words);
  words["list/"] = {"decoders", "datasets"};
  for (const char* action : {"compare", "name", "note", "rm"})
    words[str("runs/", action)] = {kRunWords};
  words["runs/compare/"] = {kRunWords};
  return words;
}

std::vector<std::string> names_of_runs(const std::string& db) {
  std::vector<std::string> names;
  try {
    if (!std::filesystem::exists(db)) return names;
    Store store(db, {.read_only = true});
    const auto labels = invocation_labels(store);
    std::set<std::string> seen;
    for (const RunRow& run : store.find_runs({})) {
      if (!seen.insert(run.invocation).second) continue;
      const auto label = labels.find(run.invocation);
      const bool named = label != labels.end() && !label->second.name.empty();
      names.push_back(named ? label->second.name : run.invocation.substr(0, kShortId));
    }
  } catch (const std::exception&) {  // shell completion shows no errors
    names.clear();
  }
  return names;
}

}  // namespace pardec
