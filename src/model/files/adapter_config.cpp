#include "src/model/files/adapter_config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "src/model/adapter.hpp"
#include "src/model/files/json_file.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

using Syntax = RegularExpression::Syntax;

/// Keys without effect on the computation. (peft ignores fan_in_fan_out for torch's Linear, and the
/// config of one initialisation if another was chosen.)
constexpr std::array kWithoutEffect{
    "peft_type",      "task_type",     "auto_mapping",      "base_model_name_or_path",
    "revision",       "peft_version",  "inference_mode",    "lora_dropout",
    "fan_in_fan_out", "loftq_config",  "eva_config",        "corda_config",
    "lora_ga_config", "megatron_core", "qalora_group_size", "runtime_config"};
/// Keys that are read below.
constexpr std::array kUnderstood{"r",
                                 "lora_alpha",
                                 "use_rslora",
                                 "rank_pattern",
                                 "alpha_pattern",
                                 "target_modules",
                                 "exclude_modules",
                                 "layers_to_transform",
                                 "layers_pattern",
                                 "modules_to_save",
                                 "ensure_weight_tying",
                                 "bias",
                                 "lora_bias",
                                 "use_dora",
                                 "init_lora_weights",
                                 "trainable_token_indices"};
/// Keys that are refused, each with the meaning of its value.
constexpr std::array<std::pair<const char*, const char*>, 12> kRefused{{
    {"alora_invocation_tokens", "an adapter that is active only after these tokens"},
    {"layer_replication", "layers that are used several times"},
    {"target_parameters", "matrices learned beside parameters that are not modules"},
    {"megatron_config", "layers of Megatron"},
    {"use_qalora", "QALoRA's groups of inputs"},
    {"use_bdlora", "block-diagonal matrices"},
    {"arrow_config", "an adapter that chooses among others"},
    {"kasa_config", "KaSA's singular values"},
    {"velora_config", "VeLoRA's projections"},
    {"monteclora_config", "MonteCLoRA's samples"},
    {"lora_magnitude_vector", "a vector of lengths"},
    {"modules_to_tie", "modules that are tied"},
}};

template <size_t N>
bool is_in(const std::array<const char*, N>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool is_neutral(const OrderedJson& value) {
  return value.is_null() || value == false || (value.is_structured() && value.empty()) ||
         (value.is_string() && value.get_ref<const std::string&>().empty());
}

ConfigError wrong(const std::string& where, const char* key, const OrderedJson& value,
                  std::string_view expected) {
  return ConfigError(str(where, ": '", key, "' is ", one_line(value), ", expected ", expected));
}

bool flag(const OrderedJson& json, const char* key, const std::string& where) {
  const OrderedJson value = value_or_null(json, key);
  if (!value.is_null() && !value.is_boolean()) throw wrong(where, key, value, "true or false");
  return value == true;
}

std::vector<std::string> texts(const OrderedJson& json, const char* key, const std::string& where) {
  const OrderedJson value = value_or_null(json, key);
  std::vector<std::string> all;
  if (value.is_null()) return all;
  for (const OrderedJson& item : value.is_array() ? value : OrderedJson::array({value})) {
    if (!item.is_string()) throw wrong(where, key, value, "a list of names, or null");
    all.push_back(item.get<std::string>());
  }
  return all;
}

/// The layer of a module name such as "model.layers.3.mlp.up_proj"; -1: none.
int layer_of(const std::string& module) {
  int layer = -1;
  if (const size_t number = layer_number_at(module); number > 0)
    std::from_chars(module.data() + number, module.data() + module.size(), layer);
  return layer;
}

bool ends_with_part(const std::string& module, const std::string& name) {
  return module == name || module.ends_with("." + name);
}

}  // namespace

ModuleNames ModuleNames::read(const OrderedJson& json, const std::string& where) {
  ModuleNames names;
  if (json.is_null()) return names;
  if (json.is_string()) {
    if (const auto& text = json.get_ref<const std::string&>(); !text.empty())
      names.expression_ = RegularExpression::of_whole_text(text, Syntax::python, where);
    return names;
  }
  const bool texts =
      json.is_array() && std::all_of(json.begin(), json.end(),
                                     [](const OrderedJson& name) { return name.is_string(); });
  if (!texts)
    throw ConfigError(
        str(where, " is ", one_line(json), ", expected a list of names or an expression"));
  for (const OrderedJson& name : json) names.names_.push_back(name.get<std::string>());
  return names;
}

bool ModuleNames::names(const std::string& module) const {
  return std::find(names_.begin(), names_.end(), module) != names_.end();
}

bool ModuleNames::has(const std::string& module) const {
  if (expression_) return expression_->matches(module);
  return std::any_of(names_.begin(), names_.end(),
                     [&](const std::string& name) { return ends_with_part(module, name); });
}

AdapterConfig::AdapterConfig(const std::filesystem::path& folder)
    : where_((folder / kAdapterConfig).string()) {
  try {
    const OrderedJson json = read_ordered_json(folder / kAdapterConfig);
    if (!json.is_object())
      throw ConfigError(str(where_, ": is ", json.type_name(), ", expected an object"));
    if (const std::string twice = repeated_key(read_file(folder / kAdapterConfig)); !twice.empty())
      throw ConfigError(str(where_, ": has ", one_line(twice), " twice, expected each key once"));
    if (value_or_null(json, "peft_type") != "LORA")
      throw wrong(where_, "peft_type", value_or_null(json, "peft_type"), "\"LORA\"");
    for (const auto& [key, value] : json.items()) {
      if (is_in(kWithoutEffect, key) || is_in(kUnderstood, key) || is_neutral(value)) continue;
      const auto known = std::find_if(kRefused.begin(), kRefused.end(),
                                      [&name = key](const auto& one) { return name == one.first; });
      throw ConfigError(str(where_, ": ", one_line(key), " is ", one_line(value), ", expected ",
                            value.is_boolean() ? "false: " : "null: ",
                            known == kRefused.end() ? "a key that is not understood may change "
                                                      "what the adapter means"
                                                    : str(known->second, ", not supported")));
    }
    read_scales(json);
    read_targets(json);
    read_start(json);
  } catch (const DataError& error) {
    throw as_model_error(error, where_);
  } catch (const ConfigError& error) {
    throw as_model_error(error, where_);
  }
}

void AdapterConfig::read_scales(const OrderedJson& json) {
  const OrderedJson rank = json.value("r", OrderedJson(8)),  // peft's defaults
      alpha = json.value("lora_alpha", OrderedJson(8));
  if (!rank.is_number_integer() || rank < 1 || rank > 1 << 20 || !alpha.is_number())
    throw ConfigError(str(where_, ": 'r' is ", one_line(rank), " and 'lora_alpha' ",
                          one_line(alpha), ", expected a whole number from 1 on and a number"));
  rank_ = rank.get<int>();
  alpha_ = alpha.get<double>();
  root_ = flag(json, "use_rslora", where_);
  ranks_ = patterns(json, "rank_pattern");
  alphas_ = patterns(json, "alpha_pattern");
  for (const Pattern& pattern : ranks_)
    if (pattern.value < 1 || pattern.value != std::floor(pattern.value))
      throw wrong(where_, "rank_pattern", value_or_null(json, "rank_pattern"),
                  "whole numbers from 1 on");
}

std::vector<AdapterConfig::Pattern> AdapterConfig::patterns(const OrderedJson& json,
                                                            const char* key) const {
  const OrderedJson given = value_or_null(json, key);
  std::vector<Pattern> all;
  if (given.is_null()) return all;
  if (!given.is_object()) throw wrong(where_, key, given, "an object of modules and numbers");
  for (const auto& [modules, value] : given.items()) {
    if (!value.is_number()) throw wrong(where_, key, given, "an object of modules and numbers");
    all.push_back({RegularExpression::of_whole_text(str("(.*\\.)?(", modules, ")"), Syntax::python,
                                                    str(where_, ": '", key, "'")),
                   value.get<double>()});
  }
  return all;
}

void AdapterConfig::read_targets(const OrderedJson& json) {
  const OrderedJson targets = value_or_null(json, "target_modules");
  all_linear_ = targets.is_string() && lower_ascii(targets.get<std::string>()) == "all-linear";
  if (!all_linear_) targets_ = ModuleNames::read(targets, str(where_, ": 'target_modules'"));
  excluded_ =
      ModuleNames::read(value_or_null(json, "exclude_modules"), str(where_, ": 'exclude_modules'"));
  saved_ = texts(json, "modules_to_save", where_);
  for (const std::string& name : saved_)
    inside_saved_.push_back(RegularExpression::of_whole_text(
        str("(|.*\\.)", name, "(|\\..*)"), Syntax::python, str(where_, ": 'modules_to_save'")));
  const OrderedJson layers = value_or_null(json, "layers_to_transform");
  if (!layers.is_null())
    for (const OrderedJson& layer : layers.is_array() ? layers : OrderedJson::array({layers})) {
      if (!layer.is_number_integer() || layer < 0 || layer > 1 << 20)
        throw wrong(where_, "layers_to_transform", layers, "numbers of layers");
      layers_.push_back(layer.get<int>());
    }
  for (const std::string& pattern : texts(json, "layers_pattern", where_))
    if (!pattern.empty())
      layer_patterns_.push_back(
          RegularExpression::of_whole_text(str("(?:.*?\\.)?", pattern, "\\.\\d+\\..*"),
                                           Syntax::python, str(where_, ": 'layers_pattern'")));
  const Json indices = value_or_null(json, "trainable_token_indices");
  token_indices_ = indices;
  keeps_tied_ = flag(json, "ensure_weight_tying", where_);
  for (const char* key : {"rank_pattern", "alpha_pattern", "modules_to_save", "exclude_modules",
                          "layers_to_transform"})
    if (!is_neutral(value_or_null(json, key))) beyond_plain_.emplace_back(key);
}

void AdapterConfig::read_start(const OrderedJson& json) {
  dora_ = flag(json, "use_dora", where_);
  low_rank_bias_ = flag(json, "lora_bias", where_);
  const OrderedJson bias = value_or_null(json, "bias");
  if (!bias.is_null() && bias != "none" && bias != "all" && bias != "lora_only")
    throw wrong(where_, "bias", bias, "none, all or lora_only");
  OrderedJson start = value_or_null(json, "init_lora_weights");
  if (start == "pissa") taken_ = Taken::principal;
  if (start.is_string() && lower_ascii(start.get<std::string>()) == "olora")
    taken_ = Taken::orthogonal;
  const bool takes_nothing = start.is_null() || start.is_boolean() || start == "gaussian" ||
                             start == "eva" || start == "orthogonal" || start == "mica";
  if (!takes_nothing && taken_ == Taken::nothing)
    throw wrong(where_, "init_lora_weights", start,
                "true, false, gaussian, eva, orthogonal, mica, pissa or olora: what others took "
                "from the network's matrices is not known here; save it by peft's "
                "path_initial_model_for_weight_conversion, or merge it by peft");
  if (dora_) beyond_plain_.emplace_back("use_dora");
  if (low_rank_bias_) beyond_plain_.emplace_back("lora_bias");
  if (!bias.is_null() && bias != "none") beyond_plain_.emplace_back("bias");
  if (taken_ != Taken::nothing) beyond_plain_.emplace_back("init_lora_weights");
}

bool AdapterConfig::targets(const std::string& module, bool stored) const {
  try {
    if (excluded_.has(module)) return false;
    if (std::any_of(inside_saved_.begin(), inside_saved_.end(),
                    [&](const RegularExpression& saved) { return saved.matches(module); }))
      return false;
    if (all_linear_) return layer_of(module) >= 0;
    if (!targets_.given()) return stored;
    if (targets_.names(module)) return true;
    if (!targets_.has(module)) return false;
    if (layers_.empty()) return true;
    return std::find(layers_.begin(), layers_.end(), layer_of(module)) != layers_.end() &&
           (layer_patterns_.empty() ||
            std::any_of(layer_patterns_.begin(), layer_patterns_.end(),
                        [&](const RegularExpression& one) { return one.matches(module); }));
  } catch (const RunError& error) {
    throw ModelError(where_, error.what());
  }
}

double AdapterConfig::by_pattern(const std::vector<Pattern>& patterns, const std::string& module,
                                 double otherwise) const {
  try {
    for (const Pattern& pattern : patterns)
      if (pattern.modules.matches(module)) return pattern.value;
    return otherwise;
  } catch (const RunError& error) {
    throw ModelError(where_, error.what());
  }
}

int AdapterConfig::rank(const std::string& module) const {
  return static_cast<int>(by_pattern(ranks_, module, rank_));
}

double AdapterConfig::scale(const std::string& module) const {
  const double rank = this->rank(module);
  return by_pattern(alphas_, module, alpha_) / (root_ ? std::sqrt(rank) : rank);
}

bool AdapterConfig::splits_tied(const Family& family) const {
  bool saved = false, targeted = false;
  for (const Role role : {Role::embedding, Role::head}) {
    const std::string module = module_name(family, role);
    saved = saved || saves(module);
    targeted = targeted || targets(module, false);
  }
  if (keeps_tied_ && targeted)
    throw ModelError(where_,
                     "'ensure_weight_tying' is true, and 'target_modules' names the embedding or "
                     "the head, which are one: expected false, or neither of them");
  return targeted || (saved && !keeps_tied_);
}

bool AdapterConfig::saves(const std::string& module) const {
  for (size_t end = module.find('.');; end = module.find('.', end + 1)) {
    const std::string part = module.substr(0, end);  // "model", "model.layers", ...
    for (const std::string& name : saved_)
      if (part.ends_with(name)) return true;
    if (end == std::string::npos) return false;
  }
}

}  // namespace pardec
