#include "src/cli/run_flags.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "datasets/dataset.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Keys of an experiment file that are no flags of `run`.
constexpr std::array kExperimentKeys{"name",   "decoders", "datasets", "model",
                                     "models", "grid",     "judge",    "published"};

}  // namespace

void read_experiment(CLI::App& app, RunFlags& flags) {
  const Json json = read_json(flags.config);
  apply_config(app, json, flags.config, {kExperimentKeys.begin(), kExperimentKeys.end()});
  for (const char* key : {"grid", "models", "judge", "published"})
    if (json.contains(key))
      throw ConfigError(str(
          flags.config, ": '", key,
          "' is for experiments that `run` cannot do; expected one model and a list of decoders"));
  JsonReader read(json, flags.config);
  flags.name = read.optional<std::string>("name", flags.name);
  if (flags.model.model.empty()) flags.model.model = read.optional<std::string>("model", "");
  if (flags.datasets.empty()) {
    flags.datasets = read.optional<std::vector<std::string>>("datasets", {});
    for (const auto& name : flags.datasets) try {
        find_dataset(name);
      } catch (const ConfigError& error) {
        throw ConfigError(str(read.where("datasets"), ": ", error.what()));
      }
  }
  if (flags.decoders.empty() && flags.arms.empty() && json.contains("decoders"))
    flags.arms = arms_of_experiment(json["decoders"], flags.config);
}

void check(const RunFlags& flags) {
  check_at_least("--batch-size", flags.batch_size, 1);
  check_at_least("--limit", flags.limit, 0);
  check_at_least("--offset", flags.offset, 0);
  check_at_least("--warmup", flags.warmup, 0);
  check_at_least("--runs", flags.runs, 1);
  check_at_least("--block", flags.block, 0);
  check_at_least("--shots", flags.shots.value_or(0), 0);
  if (flags.unseen && flags.split == "train")
    throw ConfigError("--unseen leaves nothing of the train split; give another --split");
  check_at_least("--cache-blocks", flags.cache.blocks, 0);
  if (!(flags.cache.watermark >= 0 && flags.cache.watermark < 1))
    throw ConfigError(str("--cache-watermark is ", flags.cache.watermark,
                          ", expected a share from 0 to below 1"));
  if (!(flags.fail_on_error >= 0 && flags.fail_on_error <= 1))
    throw ConfigError(
        str("--fail-on-error is ", flags.fail_on_error, ", expected a share from 0 to 1"));
  if (flags.order != "interleaved" && flags.order != "blocked")
    throw ConfigError(str("--order is '", flags.order, "', expected interleaved or blocked"));
  if (flags.retry_errors && !flags.resume)
    throw ConfigError(
        "--retry-errors goes with --resume: it repeats the failed jobs of the run that is resumed");
  if (flags.datasets.empty())
    throw ConfigError(
        "no dataset was named; give --dataset oa-mine,ae-110k ('pardec list datasets')");
  for (auto name = flags.datasets.begin(); name != flags.datasets.end(); ++name)
    if (std::find(flags.datasets.begin(), name, *name) != name)
      throw ConfigError(str("--dataset names '", *name, "' twice, expected each once"));
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  if (text.empty()) return shard;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  const bool slash = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto count = std::from_chars(slash ? index.ptr + 1 : end, end, shard.count);
  if (count.ec != std::errc() || count.ptr != end || shard.count < 1 || shard.index < 0 ||
      shard.index >= shard.count)
    throw ConfigError(str("--shard is '", text, "', expected I/N with 0 <= I < N, e.g. 0/4"));
  return shard;
}

OracleFlag parse_oracle(const std::string& text) {
  const size_t colon = text.find(':');
  OracleFlag oracle{text.substr(0, colon), std::nullopt, ""};
  if (oracle.kind == "accept" && colon != std::string::npos) {
    const std::string rate = text.substr(colon + 1);
    size_t used = 0;
    double value = -1;
    try {
      value = std::stod(rate, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used != rate.size() || !(value >= 0 && value <= 1))
      throw ConfigError(str("--oracle accept: the rate is '", rate, "', expected 0 to 1"));
    oracle.accept_rate = value;
  } else if (oracle.kind == "recorded" && colon != std::string::npos && colon + 1 < text.size()) {
    oracle.run = text.substr(colon + 1);
  } else if (!text.empty() && text != "references") {
    throw ConfigError(
        str("--oracle is '", text, "', expected references, recorded:RUN or accept:A"));
  }
  return oracle;
}

void check_oracle(const OracleFlag& oracle, const std::vector<Arm>& arms,
                  const std::vector<std::unique_ptr<Decoder>>& made) {
  if (oracle.kind.empty()) return;
  const auto drives = [&](std::string_view decoder) {
    const auto& kinds = find_decoder(decoder).oracles;
    return std::find(kinds.begin(), kinds.end(), oracle.kind) != kinds.end();
  };
  for (size_t a = 0; a < arms.size(); ++a) {
    const Arm& arm = arms[a];
    if (drives(arm.decoder)) {
      if (const std::string why = made[a]->undriven(oracle.kind); !why.empty())
        throw ConfigError(str("--oracle ", oracle.kind, " does not drive arm '", arm.label,
                              "': it ", why, "; leave one out"));
      continue;
    }
    std::vector<std::string> driven;
    for (const auto& entry : decoders())
      if (drives(entry.name)) driven.emplace_back(entry.name);
    throw ConfigError(str("--oracle ", oracle.kind, " drives decoders that ",
                          oracle.kind == "accept"     ? "draft"
                          : oracle.kind == "recorded" ? "choose their tokens one by one"
                                                      : "answer in a form of references",
                          " (", join(driven, ", "), "), arm '", arm.label, "' is ", arm.decoder,
                          "; run it apart"));
  }
}

}  // namespace pardec
