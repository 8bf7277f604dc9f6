#include <algorithm>

#include "src/store/store.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

/// Leaves of a JSON value by dotted name; an array is a leaf.
void flatten(const Json& value, const std::string& prefix,
             std::map<std::string, std::string>& out) {
  if (!value.is_object() || value.empty()) {
    if (!prefix.empty()) out[prefix] = value.is_string() ? value.get<std::string>() : dump(value);
    return;
  }
  for (const auto& [key, inner] : value.items())
    flatten(inner, prefix.empty() ? key : prefix + "." + key, out);
}

/// All values that must agree, by their names in messages.
std::map<std::string, std::string> identity(const RunRow& run) {
  std::map<std::string, std::string> out;
  flatten(run.config, "", out);
  flatten(run.options, run.decoder, out);
  const auto dataset =
      run.dataset.name + " " + run.dataset.split_text() + (run.dataset.sample ? " (sample)" : "");
  out["decoder"] = run.decoder;
  out["form"] = run.form;
  out["dataset"] = dataset;
  out["dataset hash"] = run.dataset.sha256;
  out["model hash"] = run.model.hash;
  out["draft model hash"] = run.draft ? run.draft->hash : "none";
  out["prompt hash"] = run.prompt_hash;
  out["commit"] = run.commit;
  out["build type"] = run.build_type;
  out["oracle"] = run.oracle.value_or("none");
  out["untrained"] = run.untrained ? "true" : "false";
  out["seed"] = std::to_string(run.seed);
  out["device"] = run.device;
  out["dtype"] = run.dtype;
  out["threads"] = std::to_string(run.threads);
  out["batch_size"] = std::to_string(run.batch_size);
  out["runs"] = std::to_string(run.repeats);
  out["order"] = run.order;
  out["shard"] = run.shard.empty() ? "none" : run.shard;
  return out;
}

/// Values that differ or are present in only one of the maps, one line each.
std::vector<std::string> changes(const std::map<std::string, std::string>& before,
                                 const std::map<std::string, std::string>& after) {
  std::vector<std::string> out;
  for (const auto& [key, value] : before) {
    const auto other = after.find(key);
    if (other == after.end()) {
      out.push_back(str(key, ": ", value, ", now unset"));
    } else if (other->second != value) {
      out.push_back(str(key, ": ", value, ", now ", other->second));
    }
  }
  for (const auto& [key, value] : after) {
    if (!before.contains(key)) out.push_back(str(key, ": unset, now ", value));
  }
  return out;
}

}  // namespace

bool same_ids(const ModelRow& a, const ModelRow& b) {
  const auto known = a.shape.find(kTokenizerHash), other = b.shape.find(kTokenizerHash);
  if (known == a.shape.end() || other == b.shape.end())
    return a.hash == b.hash || a.shape.value("vocab_size", 0) == b.shape.value("vocab_size", 0);
  return *known == *other;
}

std::vector<std::string> differences(const RunRow& old, const RunRow& now) {
  std::vector<std::string> out = changes(identity(old), identity(now));
  // The config hash may differ although no key does: it can cover more than the config.
  if (out.empty() && !old.config_hash.empty() && !now.config_hash.empty() &&
      old.config_hash != now.config_hash) {
    out.push_back(str("config hash: ", old.config_hash, ", now ", now.config_hash));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> machine_differences(const Json& old, const Json& now) {
  std::map<std::string, std::string> before, after;
  flatten(old, "", before);
  flatten(now, "", after);
  for (auto* machine : {&before, &after}) {
    machine->erase("mhz");  // a momentary value
    machine->erase(kDeviceMemory);
  }
  return changes(before, after);
}

}  // namespace pardec
