#include "src/reproduction/rehearsal.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "datasets/dataset.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/derived_checkpoint.hpp"
#include "src/model/files/config.hpp"
#include "src/model/files/families.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/model.hpp"
#include "src/reproduction/scale_inputs.hpp"
#include "src/runs/arms.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kExamples = 2, kNewTokens = 8;
constexpr std::array kForced{"references", "accept:0.8"};

/// A small network of the same family: two layers, with grouped keys where the true one has them.
Json small_shape(Json config, int vocabulary, const std::vector<Token>& ends) {
  const Json heads = config.value("num_attention_heads", Json(1));
  const bool grouped = config.value("num_key_value_heads", heads) != heads;
  const Json small = {{"hidden_size", 64},        {"num_attention_heads", 4},
                      {"intermediate_size", 128}, {"num_hidden_layers", 2},
                      {"vocab_size", vocabulary}, {"num_key_value_heads", grouped ? 2 : 4}};
  if (const Family* family = find_family(config.value("model_type", "")))
    for (const KeyName& key : family->keys)
      if (key.own) config.erase(key.own);  // the usual names count then
  config.update(small);
  if (config.contains("head_dim")) config["head_dim"] = 16;
  for (const char* key : {"rope_scaling", "quantization_config", "layer_types"}) config.erase(key);
  config["eos_token_id"] = ends;
  return config;
}

/// The file of a network's config; empty: it has none here. An adapter of the scale's network (a
/// draft of its first layers) has the config of that network.
std::string shape_of(const Json& scale, const std::string& label, const std::string& folder) {
  const Json shapes = scale.value("shapes", Json::object());
  if (shapes.contains(label))
    return project_file("experiments/papers/networks") /
           (shapes[label].get<std::string>() + ".json");
  const auto at = folder_at(folder);
  if (!at) return "";
  std::error_code ignored;
  if (fs::exists(*at / "config.json", ignored)) return (*at / "config.json").string();
  const std::string main = scale.value("model", "main");
  if (label == main || !fs::exists(*at / kAdapterConfig, ignored)) return "";
  const Json folders = scale.value("models", Json::object()).value(main, Json());
  return folders.is_string() ? shape_of(scale, main, folders.get<std::string>()) : "";
}

/// Labels that arms name as their own networks or drafts, beside the scale's.
bool is_network(const Json& scale, const std::string& label) {
  if (scale.value("model", "main") == label) return true;
  const Json& arms = scale["decoders"];
  return std::any_of(arms.begin(), arms.end(), [&](const Json& arm) {
    return arm.value("model", "") == label || arm.value("draft", "") == label;
  });
}

/// Whether answers to some of the datasets are open texts.
bool any_open(const Json& datasets, const std::string& data_root) {
  return std::any_of(datasets.begin(), datasets.end(), [&](const Json& one) {
    const DatasetEntry& entry = find_dataset(one.get<std::string>());
    if (!data_root.empty() && !dataset_folder(entry, data_root)) return false;  // it lacks
    return load_dataset(entry,
                        data_root.empty() ? std::nullopt : std::optional<fs::path>(data_root), "",
                        project_file("datasets/samples"))
               .shape == Shape::open;
  });
}

/// The oracle that drives an arm; empty: none does.
std::string oracle_for(const Json& arm, bool open) {
  const auto label = arm.value("label", arm.value("name", ""));
  for (const std::string oracle : kForced) {
    if (open && oracle == kForced.front()) continue;  // they have no references
    Json alone = arm;
    for (const char* key : {"model", "adapter", "draft"}) alone.erase(key);
    try {
      const Arm made =
          make_arms({}, arms_of_experiment(Json::array({alone}), Json(), "a scale"), {}, 1).front();
      check_driven(parse_oracle(oracle, label), made);
      return oracle;
    } catch (const ConfigError&) {  // it does not drive this arm
    }
  }
  return "";
}

}  // namespace

std::string Rehearsals::network(const std::string& config) {
  if (const auto made = made_.find(config); made != made_.end()) return made->second;
  const fs::path folder = scratch_.folder() / str("network-", made_.size()),
                 base = folder.string() + "-base",
                 tokenizer_file = project_file("experiments/quickstart/tokenizer.json");
  const Tokenizer tokenizer = Tokenizer::load(tokenizer_file);
  std::vector<Token> ends;
  for (const char* end : {"<|im_end|>", "</s>", "<|endoftext|>", "<|end_of_text|>"})
    if (const auto id = tokenizer.id(end)) ends.push_back(*id);
  fs::create_directories(base);
  synthesise_checkpoint(
      small_shape(read_json(config), (tokenizer.vocab_size() + 63) / 64 * 64, ends), 1, base);
  write_file(base / "tokenizer.json", read_file(tokenizer_file));
  NewTokens tokens;
  for (const Json& token :
       read_json(project_file("experiments/papers/networks/control_tokens.json")))
    if (!tokenizer.id(token.get<std::string>())) tokens.added.push_back(token);
  add_tokens(base, tokens, folder);
  synthesise_extra_heads({.heads = 3, .blocks = 1, .shares_head = true}, 1, folder);
  return made_[config] = folder.string();
}

Rehearsal Rehearsals::of(const PaperItem& item, const ReproduceOptions& options) {
  Rehearsal rehearsal{.item = std::make_unique<PaperItem>(item), .scale = options.scale};
  Json scale = item.scale(options.scale);
  ReproduceOptions small = options;
  small.db = (scratch_.folder() / "r.sqlite").string();
  small.judge.reset();
  small.models.clear();
  small.services.clear();
  small.effort = {};
  small.errors_lack = false;
  if (scale.contains("decoders")) {
    rehearsal.limit = options.limit.value_or(scale.value("limit", std::int64_t{0}));
    small.limit = kExamples;
    const Dtype type = parse_dtype([&] {
      const std::string named =
          options.dtype.empty() ? scale.value("dtype", "fp32") : options.dtype;
      return named == "auto" ? "bf16" : named;
    }());
    Json models = Json::object();
    const Json networks = scale.value("models", Json::object());
    for (const auto& [label, folders] : networks.items()) {
      RehearsedNetwork network{label, ""};
      for (const GivenNetwork& given : options.models)
        if (given.label == label && network.folder.empty()) network.folder = given.folder;
      const Json& first = folders.is_array() ? folders.front() : folders;
      if (network.folder.empty() && first.is_string()) network.folder = first.get<std::string>();
      network.there = !network.folder.empty() && network_at(network.folder).has_value();
      if (is_network(scale, label)) {
        network.shape = shape_of(scale, label, network.folder);
        models[label] = network.shape.empty() ? network.folder : this->network(network.shape);
      }
      if (!network.shape.empty()) {
        const ModelConfig config = parse_model_config(read_json(network.shape), network.shape);
        network.parameters = parameter_count(config);
        network.bytes = weight_bytes(config, type);
      }
      rehearsal.networks.push_back(network);
    }
    scale["models"] = models;
    for (const char* key : {"block", "standin", "shapes"}) scale.erase(key);
    scale["limit"] = kExamples;
    scale["runs"] = 1;
    scale["warmup"] = 0;
    scale["block"] = 1;
    scale["max_new_tokens"] = std::min(kNewTokens, scale.value("max_new_tokens", kNewTokens));
    const bool open = any_open(scale["datasets"], options.data_root);
    const bool forced = scale.contains("oracle");
    for (Json& arm : scale["decoders"]) {
      arm.erase("adapter");
      if (forced || arm.value("set", Json::object()).contains("oracle")) continue;
      if (const std::string oracle = oracle_for(arm, open); !oracle.empty())
        arm["set"]["oracle"] = oracle;
    }
  }
  rehearsal.item->scales[options.scale] = scale;
  rehearsal.result = reproduce(*rehearsal.item, small);
  const Json none = Json::array();
  const Json& arms = scale.contains("decoders") ? scale["decoders"] : none;
  const Json& datasets = scale.contains("datasets") ? scale["datasets"] : none;
  for (const Json& dataset : datasets)
    for (const Json& arm : arms) {
      const Json set = arm.value("set", Json::object());
      RehearsedArm one{.dataset = dataset,
                       .label = arm.value("label", arm.value("name", "")),
                       .decoder = arm.value("name", ""),
                       .network = arm.value("model", scale.value("model", "main")),
                       .options = set,
                       .batch_size = set.value("batch_size", scale.value("batch_size", 1)),
                       .oracle = set.value("oracle", scale.value("oracle", "")),
                       .lacks = "it was not run"};
      if (is_served(arm))
        one.lacks = std::any_of(options.services.begin(), options.services.end(),
                                [&](const GivenService& given) { return given.label == one.label; })
                        ? "a dry run does not ask its service"
                        : lacking_service(one.label);
      one.options.erase("batch_size");
      one.options.erase("oracle");
      if (rehearsal.result.run)
        for (const ArmFinding& found : rehearsal.result.run->comparison().arms)
          if (found.run.run.label == one.label && found.run.run.dataset.name == one.dataset) {
            one.answers = found.run.generations;
            one.failed = found.run.failed_generations;
            one.lacks.clear();
          }
      if (rehearsal.result.run)
        for (const auto& [pair, why] : rehearsal.result.run->comparison().not_applicable)
          if (pair == std::pair(one.dataset, one.label)) one.lacks = why;
      rehearsal.arms.push_back(std::move(one));
    }
  return rehearsal;
}

}  // namespace pardec
