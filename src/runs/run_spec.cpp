#include "src/runs/run_spec.hpp"

#include <algorithm>
#include <charconv>

#include "decoders/service/service.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

void check(const RunSpec& spec) {
  if (spec.unseen && spec.split == "train")
    throw ConfigError("`unseen` leaves nothing of the train split; give another `split`");
  if (spec.retry_errors && !spec.resume && !spec.go_on)
    throw ConfigError(
        "`retry_errors` goes with `resume`: it repeats the failed jobs of the run that is resumed");
  if (spec.datasets.empty())
    throw ConfigError(
        "no dataset was named; give `dataset=oa-mine,ae-110k` ('pardec list datasets')");
  std::vector<std::string> names;
  for (const std::string& dataset : spec.datasets) {
    const std::string name = dataset.substr(0, dataset.find('='));
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw ConfigError(str("`dataset` names '", name, "' twice, expected each once"));
    names.push_back(name);
  }
  for (const auto& [name, ids] : spec.answer_limits)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw ConfigError(str("`answer_tokens` is '", name, "=", ids,
                            "', but `dataset` does not name ", name, known_names(name, names)));
}

void check_arms(RunSpec& spec, const std::function<void(Arm&)>& check) {
  if (!spec.grid) {
    for (Arm& arm : spec.arms) check(arm);
    return;
  }
  std::vector<Arm> left;
  for (Arm& arm : spec.arms) try {
      check(arm);
      left.push_back(std::move(arm));
    } catch (const std::exception& error) {
      spec.refused.push_back({arm.label, reason_of(error)});
    }
  spec.arms = std::move(left);
  if (spec.arms.empty())
    throw ConfigError(str("no cell of the grid can be run; the first, ", spec.refused.front().label,
                          ": ", spec.refused.front().reason));
}

CacheBudget cache_of(const RunSpec& spec, const Arm& arm) {
  CacheBudget cache = spec.cache;
  cache.blocks = arm.cache_blocks.value_or(cache.blocks);
  return cache;
}

ModelOptions networks_of(const RunSpec& spec, const Arm& arm) {
  ModelOptions options = spec.model;
  if (!arm.model.empty()) {
    options.model = arm.model;
    options.adapter.clear();
  }
  if (!arm.adapter.empty()) options.adapter = arm.adapter;
  if (!arm.draft_model.empty()) options.draft_model = arm.draft_model;
  if (!arm.algorithm->drafts_with_model()) options.draft_model.clear();
  if (arm.algorithm->elsewhere()) {
    options.weights = false;
    const std::string own = service_options(arm.algorithm->options()).tokenizer;
    if (!own.empty()) {
      options.model = own;
      options.adapter.clear();
    }
  }
  return options;
}

bool several_networks(const RunSpec& spec) {
  return std::any_of(spec.arms.begin(), spec.arms.end(), [&](const Arm& arm) {
    const ModelOptions own = networks_of(spec, arm), first = networks_of(spec, spec.arms.front());
    return own.model != first.model || own.adapter != first.adapter;
  });
}

std::vector<ModelOptions> networks_of(const RunSpec& spec) {
  std::vector<ModelOptions> all;
  for (const Arm& arm : spec.arms) all.push_back(networks_of(spec, arm));
  return all;
}

std::map<std::string, int> parse_answer_limits(const std::vector<std::string>& texts) {
  std::map<std::string, int> limits;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const int ids =
        equals == std::string::npos ? 0 : number_in<int>(text.substr(equals + 1)).value_or(0);
    if (ids < 1)
      throw ConfigError(str("`answer_tokens` is '", text, "', expected NAME=N with N at least 1"));
    limits.emplace(text.substr(0, equals), ids);  // the first of duplicates counts
  }
  return limits;
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  shard.text = text;
  if (text.empty()) return shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool slash = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto count = std::from_chars(slash ? index.ptr + 1 : end, end, shard.count);
  if (count.ec != std::errc() || count.ptr != end || shard.count < 1 || shard.index < 0 ||
      shard.index >= shard.count)
    throw ConfigError(str("`shard` is '", text, "', expected I/N with 0 <= I < N, e.g. 0/4"));
  return shard;
}

const Arm* forced_arm(const std::vector<Arm>& arms, std::string_view kind) {
  for (const Arm& arm : arms)
    if (!arm.oracle.text.empty() && (kind.empty() || arm.oracle.kind == kind)) return &arm;
  return nullptr;
}

void check_oracle_used(const RunSpec& spec) {
  if (spec.oracle.text.empty() || forced_arm(spec.arms)) return;
  check_driven(spec.oracle, spec.arms.front());
}

}  // namespace pardec
