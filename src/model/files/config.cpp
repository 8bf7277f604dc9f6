#include "src/model/files/config.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "src/model/adapter.hpp"
#include "src/model/files/adapter_config.hpp"
#include "src/model/files/checkpoint_advice.hpp"
#include "src/model/files/checkpoint_files.hpp"
#include "src/model/files/extra_heads.hpp"
#include "src/model/files/gguf_config.hpp"
#include "src/model/files/json_file.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/files/quantised_weights.hpp"
#include "src/support/error.hpp"
#include "src/support/mapped_file.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

const Family& family_of(JsonReader& read, const std::string& where) {
  const std::string type = read.optional<std::string>("model_type", "");
  const auto names = read.optional<std::vector<std::string>>("architectures", {});
  if (type.empty() && names.empty())
    throw ModelError(where,
                     str("has neither 'model_type' nor 'architectures'; ", supported_families()));
  const bool one = names.size() == 1;
  const Family* family = !type.empty() ? find_family(type)
                         : one         ? find_architecture(names[0])
                                       : nullptr;
  if (!family) {
    const std::string why = why_unsupported(type);
    throw ModelError(
        where,
        str(type.empty() ? str("architecture '", join(names, ", ")) : str("model_type '", type),
            "' is not supported", why.empty() ? "" : ": it has ", why, "; ", supported_families()));
  }
  const bool fits = one && (names[0] == family->architecture ||
                            (family->other_architecture && names[0] == family->other_architecture));
  if (!names.empty() && !fits)
    throw ModelError(where, str("model_type '", type, "' with architectures [", join(names, ", "),
                                "] is not supported, expected ", family->architecture));
  return *family;
}

/// Keys whose values would change the network, for every family, with the value that does not.
struct NeutralValue {
  const char* key;
  Json neutral;
};
void refuse_other_networks(const Json& json, const std::string& where, const Family& family) {
  static const std::array kKeys{NeutralValue{"is_encoder_decoder", false},
                                NeutralValue{"is_causal", true},
                                NeutralValue{"attention_chunk_size", nullptr},
                                NeutralValue{"per_layer_config", Json::object()},
                                NeutralValue{"kv_sharing_modes", nullptr},
                                NeutralValue{"text_config", nullptr}};
  const auto refuse = [&](const char* key, const Json& neutral) {
    // Null is none or false.
    if (const Json value = json.value(key, neutral);
        value != neutral && !(value.is_null() && neutral != true))
      throw ModelError(where, str("'", key, "' is ", one_line(value),
                                  ", which is not supported; expected ", dump(neutral)));
  };
  for (const auto& [key, neutral] : kKeys) refuse(key, neutral);
  for (const auto& [key, value] : family.neutral) refuse(key, Json::parse(value));
  if (family.block.layer_norm)
    for (const char* key : {"qk_layernorm", "use_qk_norm"}) refuse(key, false);
  // A missing key means its default, but null has no defined meaning.
  std::vector<const char*> keys{family.activation_key, "max_position_embeddings", family.eps_key,
                                "rope_theta"};
  if (family.query_scalar) keys.push_back("query_pre_attn_scalar");
  if (family.logit_scale > 0) keys.push_back("logit_scale");
  if (family.multipliers)
    keys.insert(keys.end(), {"embedding_multiplier", "residual_multiplier", "attention_multiplier",
                             "logits_scaling"});
  if (family.swiglu_keys) keys.insert(keys.end(), {"swiglu_limit", "swiglu_alpha"});
  if (family.experts.count > 0)
    keys.insert(keys.end(), {"num_experts", "num_local_experts", "num_experts_per_tok",
                             family.experts.inner_key, "shared_expert_intermediate_size"});
  if (family.rope == RopeForm::by_layer) keys.push_back("rope_local_base_freq");
  for (const BiasKey& bias : family.biases)
    if (bias.fallback) keys.push_back(bias.key);
  if (family.parallel_key && family.block.parallel) keys.push_back("use_parallel_residual");
  for (const char* key : keys)
    if (json.contains(key) && json.at(key).is_null())
      throw ModelError(where, str("'", key, "' is null, expected a value, or no such key"));
}

/// The activation that config.json names. An MLP without a gate may have either form of gelu.
Activation read_activation(JsonReader& read, const std::string& where, const Family& family) {
  const Activation usual = family.block.activation;
  const auto act = read.maybe<std::string>(family.activation_key);
  if (!act) return usual;
  using Named = std::pair<const char*, Activation>;
  const Named names[] = {
      {"silu", Activation::silu},          {"swish", Activation::silu},
      {"gelu", Activation::gelu},          {"gelu_pytorch_tanh", Activation::gelu_tanh},
      {"gelu_new", Activation::gelu_tanh}, {"gelu_fast", Activation::gelu_tanh}};
  const auto fits = [&](Activation one) {
    const bool gelus = one != Activation::silu && usual != Activation::silu;
    return one == usual || (gelus && !family.block.gated);
  };
  std::vector<std::string> supported;
  for (const auto& [name, one] : names) {
    if (!fits(one)) continue;
    if (*act == name) return one;
    supported.push_back(str("'", name, "'"));
  }
  throw ModelError(where, str("'", family.activation_key, "' is '", *act, "'; supported is ",
                              join(supported, " or ")));
}

/// The window of a network; 0: no layer has one.
int window_of(const Json& json, JsonReader& read, const std::string& where, const Family& family) {
  const auto given = read.maybe<int>("sliding_window");
  const bool used = read.optional<bool>("use_sliding_window", false);
  if (used && family.windows == Windows::none)
    throw ModelError(where, str("'use_sliding_window' is true, which is not supported for ",
                                family.model_type, "; expected a qwen, mistral or phi3, or false"));
  const bool optional = family.windows == Windows::later_layers ||
                        family.windows == Windows::if_used ||
                        family.windows == Windows::even_layers;
  if (family.windows == Windows::none || (optional && !used)) return 0;
  if (given && *given < 2)
    throw ModelError(where, str("'sliding_window' is ", *given, ", expected 2 or more, or null",
                                used ? ", because 'use_sliding_window' is true" : ""));
  const bool null = !given && json.contains("sliding_window");
  if (null && family.windows == Windows::even_layers)
    throw ModelError(where,
                     "'sliding_window' is null, expected a number, because 'use_sliding_window' is "
                     "true");
  return given.value_or(null ? 0 : family.window);
}

/// The layers' types if `layer_types` is missing.
std::vector<std::string> default_layer_types(JsonReader& read, const std::string& where,
                                             const Family& family, int window, int layers) {
  const bool later = family.windows == Windows::later_layers;
  const bool even = family.windows == Windows::even_layers;
  const int bound = later || even ? read.optional<int>("max_window_layers", 28) : 0;
  const int pattern = family.pattern_key
                          ? read.optional<int>(family.pattern_key, family.window_pattern)
                          : family.window_pattern;
  const bool by_pattern = family.windows == Windows::all_but_nth;
  if (by_pattern && pattern < 1)
    throw ModelError(where, str("'", family.pattern_key, "' is ", pattern, ", expected 1 or more"));
  std::vector<std::string> types;
  for (int layer = 0; layer < layers; ++layer) {
    const bool here = by_pattern ? (layer + 1) % pattern != 0
                      : even     ? layer % 2 == 0 && layer < bound
                                 : layer >= bound;
    const bool slides = here && (by_pattern || window > 0);
    types.push_back(slides ? "sliding_attention" : "full_attention");
  }
  return types;
}

void read_window(const Json& json, JsonReader& read, const std::string& where,
                 ModelConfig& config) {
  const Family& family = *config.family;
  const int window = window_of(json, read, where, family);
  const bool by_layer = family.windows == Windows::later_layers ||
                        family.windows == Windows::even_layers ||
                        family.windows == Windows::all_but_nth;
  const auto expected = default_layer_types(read, where, family, window, config.layers);
  const auto types = read.optional<std::vector<std::string>>("layer_types", expected);
  if (std::ssize(types) != config.layers)
    throw ModelError(where, str("'layer_types' has ", types.size(),
                                " entries, expected one for each of ", config.layers, " layers"));
  for (const std::string& type : types) {
    const bool slides = type == "sliding_attention";
    if (!slides && type != "full_attention")
      throw ModelError(where, str("'layer_types' has '", type,
                                  "'; supported are full_attention and sliding_attention"));
    if (slides && window == 0 && family.windows == Windows::all_but_nth)
      throw ModelError(where, str("'sliding_window' is null, expected a number, because layers of ",
                                  family.model_type, " have a window"));
    if (slides && window == 0)
      throw ModelError(where,
                       "'layer_types' has 'sliding_attention', expected 'full_attention', "
                       "or a qwen with 'use_sliding_window' and 'sliding_window'");
    config.slides.push_back(slides);
    if (slides) config.sliding_window = window;
  }
  if (!by_layer && types != expected)
    throw ModelError(where, str("'layer_types' has layers without the window, which ",
                                family.model_type, " does not have"));
  if (config.sliding_window == 0) config.slides.clear();
}

/// A cap of tanh; null: none.
double read_cap(const Json& json, JsonReader& read, const std::string& where, const char* key,
                bool supported, double fallback) {
  const double cap = json.contains(key) ? read.maybe<double>(key).value_or(0) : fallback;
  const bool null = !json.contains(key) || json.at(key).is_null();
  if (!null && (!supported || !(cap > 0) || !std::isfinite(cap)))
    throw ModelError(where, str("'", key, "' is ", dump(json.at(key)), ", expected null",
                                supported ? ", or a positive number" : ""));
  return cap;
}

/// Reads which layers have experts, and their shape.
Experts read_experts(const Json& json, JsonReader& read, const std::string& where,
                     const Family& family, int layers) {
  Experts experts;
  const ExpertKeys& keys = family.experts;
  if (keys.count == 0) return experts;
  // transformers writes one of the two names, and published files have the other.
  const char* key = json.contains("num_experts") ? "num_experts" : "num_local_experts";
  experts.count = read.optional<int>(key, keys.count);
  experts.used = read.optional<int>("num_experts_per_tok", keys.used);
  experts.inner = read.optional<int>(keys.inner_key, keys.inner);
  experts.normalised = keys.normalised || read.optional<bool>("norm_topk_prob", false);
  const char* shared = "shared_expert_intermediate_size";
  if (keys.shared_inner > 0) experts.shared_inner = read.optional<int>(shared, keys.shared_inner);
  const int step = keys.some_layers ? read.optional<int>("decoder_sparse_step", 1) : 1;
  const auto dense = keys.some_layers ? read.optional<std::vector<int>>("mlp_only_layers", {})
                                      : std::vector<int>();
  const std::tuple<const char*, int, int> sizes[] = {
      {key, experts.count, 0},
      {"num_experts_per_tok", experts.used, 1},
      {keys.inner_key, experts.inner, 1},
      {shared, experts.shared_inner, keys.shared_inner > 0 ? 1 : 0},
      {"decoder_sparse_step", step, 1}};
  for (const auto& [name, size, least] : sizes)
    if (size < least || size > 1 << 20)
      throw ModelError(where,
                       str("'", name, "' is ", size, ", expected a number from ", least, " on"));
  if (experts.count > 0 && experts.used > experts.count)
    throw ModelError(where, str("'num_experts_per_tok' is ", experts.used, ", expected at most '",
                                key, "' (", experts.count, ")"));
  // Far beyond any network, but few enough to list their weights.
  constexpr std::int64_t kMostExperts = 1 << 18;
  if (std::int64_t{experts.count} * layers > kMostExperts)
    throw ModelError(where, str("'", key, "' is ", experts.count, " in each of ", layers,
                                " layers, which no network has (", kMostExperts,
                                " in all layers are accepted)"));
  for (int layer = 0; layer < layers; ++layer)
    experts.layers.push_back(experts.count > 0 && (layer + 1) % step == 0 &&
                             std::find(dense.begin(), dense.end(), layer) == dense.end());
  if (std::find(experts.layers.begin(), experts.layers.end(), true) == experts.layers.end())
    return {};
  return experts;
}

double read_multiplier(JsonReader& read, const std::string& where, const char* key,
                       double fallback = 1.0) {
  const double value = read.optional<double>(key, fallback);
  if (!(value > 0) || !std::isfinite(value))
    throw ModelError(where, str("'", key, "' is ", value, ", expected a positive number"));
  return value;
}

/// Reads which layers do not rotate.
std::vector<bool> read_unrotated(const Json& json, JsonReader& read, const std::string& where,
                                 const Family& family, int layers) {
  std::vector<bool> unrotated;
  if (family.unrotated_nth == 0) return unrotated;
  const int nth = read.optional<int>("no_rope_layer_interval", family.unrotated_nth);
  if (nth < 1)
    throw ModelError(where,
                     str("'no_rope_layer_interval' is ", nth, ", expected a positive number"));
  // In spite of its name, 1 in this list means that the layer rotates.
  const auto rotates = read.optional<std::vector<int>>("no_rope_layers", {});
  const bool listed = json.contains("no_rope_layers") && !json.at("no_rope_layers").is_null();
  if (listed && std::ssize(rotates) < layers)
    throw ModelError(where, str("'no_rope_layers' has ", rotates.size(),
                                " entries, expected one for each of ", layers, " layers"));
  for (int layer = 0; layer < layers; ++layer)
    unrotated.push_back(listed ? rotates[static_cast<size_t>(layer)] == 0 : (layer + 1) % nth == 0);
  return unrotated;
}

/// Reads a key of Falcon that is true or false. Null is false, as in transformers, also if
/// `fallback`, the value of an absent key, is true.
bool read_flag(const Json& json, JsonReader& read, const char* key, bool fallback) {
  return read.optional<bool>(key, fallback && !json.contains(key));
}

/// Falcon: whether there is one key head for each query head, or for a group of them, or for all;
/// and the norms of its layers.
int read_kv_heads(const Json& json, JsonReader& read, const ModelConfig& config) {
  if (read_flag(json, read, "new_decoder_architecture", false)) return config.kv_heads;
  return read_flag(json, read, "multi_query", true) ? 1 : config.heads;
}
void read_kind(const Json& json, JsonReader& read, const std::string& where, BlockSpec& block) {
  const bool newer = read_flag(json, read, "new_decoder_architecture", false);
  const bool parallel = read_flag(json, read, "parallel_attn", true);
  const int norms = read.optional<int>("num_ln_in_parallel_attn", newer ? 2 : 1);
  if (norms < 1 || norms > (newer ? 2 : 1))
    throw ModelError(where, str("'num_ln_in_parallel_attn' is ", norms, ", expected 1",
                                newer ? " or 2" : ", or new_decoder_architecture"));
  if (newer && !parallel)
    throw ModelError(where,
                     "'parallel_attn' is false, expected true with new_decoder_architecture");
  block.parallel = parallel;
  block.two_norms = norms == 2;
}

/// Reads what the layers compute: the family's block with the options of config.json.
void read_block(const Json& json, JsonReader& read, const std::string& where, ModelConfig& config) {
  const Family& family = *config.family;
  BlockSpec& block = config.block = family.block;
  for (const BiasKey& bias : family.biases) {
    if (!read.optional<bool>(bias.key, bias.fallback)) continue;
    block.attention_bias = block.attention_bias || bias.qkv;
    block.output_bias = block.output_bias || bias.o;
    block.mlp_bias = block.mlp_bias || bias.mlp;
  }
  block.query_scalar = config.head_dim;
  if (family.query_scalar) {
    const int scalar =
        read.optional<int>("query_pre_attn_scalar", static_cast<int>(family.block.query_scalar));
    if (scalar < 1)
      throw ModelError(where,
                       str("'query_pre_attn_scalar' is ", scalar, ", expected a positive number"));
    block.query_scalar = scalar;
  }
  if (family.attention_cap || family.logit_cap) {
    block.attention_cap = read_cap(json, read, where, "attn_logit_softcapping",
                                   family.attention_cap, block.attention_cap);
    block.logit_cap =
        read_cap(json, read, where, "final_logit_softcapping", family.logit_cap, block.logit_cap);
  }
  if (family.scaled_embedding)
    block.embedding_scale = std::sqrt(static_cast<double>(config.hidden_size));
  block.activation = read_activation(read, where, family);
  if (family.parallel_key)
    block.parallel = read.optional<bool>("use_parallel_residual", block.parallel);
  if (family.kind_keys) read_kind(json, read, where, block);
  if (family.logit_scale > 0)
    block.logit_divisor = 1 / read_multiplier(read, where, "logit_scale", family.logit_scale);
  if (family.multipliers) {
    block.embedding_scale = read_multiplier(read, where, "embedding_multiplier");
    block.residual_scale = read_multiplier(read, where, "residual_multiplier");
    block.logit_divisor = read_multiplier(read, where, "logits_scaling");
    const double attention = read_multiplier(read, where, "attention_multiplier");
    block.query_scalar = 1 / (attention * attention);
  }
  if (family.swiglu_keys) {
    block.swiglu_limit = read_multiplier(read, where, "swiglu_limit", block.swiglu_limit);
    block.swiglu_slope = read_multiplier(read, where, "swiglu_alpha", block.swiglu_slope);
  }
  if (family.mup_keys) {  // the published code's, which transformers does not have
    block.embedding_scale = read_multiplier(read, where, "scale_emb");
    block.residual_scale =
        read_multiplier(read, where, "scale_depth") / std::sqrt(static_cast<double>(config.layers));
    block.logit_divisor = config.hidden_size / read_multiplier(read, where, "dim_model_base");
  }
}

/// Reads one id, a list of ids, or null. Ids outside the vocabulary are left out, since no network
/// can generate them.
std::vector<Token> token_ids(const Json& value, const char* key, const std::string& where,
                             int vocab_size) {
  if (value.is_null()) return {};
  std::vector<Token> ids;
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    if (!item.is_number_integer())
      throw ModelError(where,
                       str("'", key, "' is ", dump(value), ", expected an id or a list of ids"));
    if (item >= 0 && item < vocab_size) ids.push_back(item.get<Token>());
  }
  return ids;
}

void read_special_ids(const Json& json, const std::string& where, ModelConfig& config) {
  const auto value = [&](const char* key) { return json.contains(key) ? json.at(key) : Json(); };
  const auto bos = token_ids(value("bos_token_id"), "bos_token_id", where, config.vocab_size);
  if (bos.size() > 1)
    throw ModelError(where, str("'bos_token_id' is ", dump(value("bos_token_id")),
                                ", expected one id, or null"));
  if (!bos.empty()) config.bos = bos.front();
  const auto eos = token_ids(value("eos_token_id"), "eos_token_id", where, config.vocab_size);
  if (!value("eos_token_id").is_null()) config.eos = eos;
}

void check_sizes(const ModelConfig& config, const std::string& where) {
  const std::pair<const char*, int> sizes[] = {{"vocab_size", config.vocab_size},
                                               {"hidden_size", config.hidden_size},
                                               {"intermediate_size", config.intermediate_size},
                                               {"num_hidden_layers", config.layers},
                                               {"num_attention_heads", config.heads},
                                               {"num_key_value_heads", config.kv_heads},
                                               {"head_dim", config.head_dim},
                                               {"max_position_embeddings", config.max_position}};
  for (const auto& [key, size] : sizes)
    if (size <= 0)
      throw ModelError(where, str("'", key, "' is ", size, ", expected a positive number"));
  if (config.heads % config.kv_heads != 0)
    throw ModelError(where,
                     str("'num_attention_heads' is ", config.heads,
                         ", expected a multiple of 'num_key_value_heads' (", config.kv_heads, ")"));
  if (config.head_dim % 2 != 0)
    throw ModelError(where, str("'head_dim' is ", config.head_dim, ", expected an even number"));
  // Far beyond any network, but small enough that the number of parameters cannot overflow.
  constexpr std::int64_t kLargest = 1 << 22, kMostLayers = 10000;
  if (config.vocab_size > kLargest || config.hidden_size > kLargest ||
      config.intermediate_size > kLargest ||
      std::int64_t{config.heads} * config.head_dim > kLargest || config.layers > kMostLayers)
    throw ModelError(where, str("has a size that no network has (sizes up to ", kLargest,
                                ", layers up to ", kMostLayers, " are accepted)"));
  if (!(config.norm_eps >= 0) || !std::isfinite(config.norm_eps))
    throw ModelError(where, str("'", config.family->eps_key, "' is ", config.norm_eps,
                                ", expected a small positive number"));
}

}  // namespace

int ModelConfig::positions() const {
  return rope.type == RopeType::longrope ? std::min(max_position, rope.original_max_position)
                                         : max_position;
}
std::string ModelConfig::positions_key() const {
  return positions() < max_position
             ? "original_max_position_embeddings, beyond which rope_type longrope is not supported"
             : family->key("max_position_embeddings");
}

namespace {

/// `json` with the usual names of the keys for which the family has names of its own, and with the
/// family's `rope_scaling` if it has none. ModelError: both names of a key, with different values.
Json with_usual_names(const Json& json, const std::string& where, const Family& family) {
  Json usual = json;
  if (family.rope_scaling && json.value("rope_scaling", Json()).empty() &&
      json.value("rope_parameters", Json()).is_null())
    usual["rope_scaling"] = Json::parse(family.rope_scaling);
  for (const KeyName& key : family.keys)
    if (!key.own) {
      usual.erase(key.usual);
    } else if (const auto own = json.find(key.own); own != json.end()) {
      const Json other = usual.value(key.usual, Json());
      if (family.has_usual(key.usual) && !other.is_null() && !own->is_null() && other != *own)
        throw ModelError(where, str("has ", key.own, " ", one_line(*own), " and ", key.usual, " ",
                                    one_line(other), ", expected one value, or one of these keys"));
      if (!own->is_null() || other.is_null()) usual[key.usual] = *own;
    }
  return usual;
}

/// Parses a config with the usual names.
ModelConfig parse_usual(const Json& json, const std::string& where, const Family& family) {
  JsonReader read(json, where);
  refuse_other_networks(json, where, family);
  ModelConfig config;
  config.family = &family;
  config.vocab_size = read.required<int>("vocab_size");
  config.hidden_size = read.required<int>("hidden_size");
  const auto inner = read.maybe<int>("intermediate_size");
  if (!inner && family.inner_factor == 0) read.required<int>("intermediate_size");
  // Too large sizes are refused below.
  config.intermediate_size =
      inner.value_or(family.inner_factor * std::min(config.hidden_size, 1 << 24));
  config.layers = read.required<int>("num_hidden_layers");
  config.heads = read.required<int>("num_attention_heads");
  // Null means as many as `heads`, even for families whose default is a number.
  const bool silent = !json.contains("num_key_value_heads") && family.kv_heads > 0;
  config.kv_heads =
      silent ? family.kv_heads : read.optional<int>("num_key_value_heads", config.heads);
  if (family.kind_keys) config.kv_heads = read_kv_heads(json, read, config);
  const auto head_dim = read.maybe<int>("head_dim");
  if (!head_dim && family.head_dim == 0 && config.heads > 0 &&
      config.hidden_size % config.heads != 0)
    throw ModelError(where, str("'hidden_size' is ", config.hidden_size,
                                ", expected a multiple of 'num_attention_heads' (", config.heads,
                                "), or 'head_dim'"));
  config.head_dim = head_dim              ? *head_dim
                    : family.head_dim > 0 ? family.head_dim
                                          : config.hidden_size / std::max(config.heads, 1);
  config.max_position = read.optional<int>("max_position_embeddings", family.max_position);
  config.norm_eps = read.optional<double>(family.eps_key, family.norm_eps);
  config.initializer_range = read.optional<double>("initializer_range", 0.02);
  config.tied_head = read.optional<bool>("tie_word_embeddings", family.tied);
  config.dtype = read.optional<std::string>("dtype", read.optional<std::string>("torch_dtype", ""));
  if (const auto quantisation = parse_quantisation(json, where))
    config.quantised = quantisation->name;
  check_sizes(config, where);
  read_block(json, read, where, config);
  config.experts = read_experts(json, read, where, family, config.layers);
  if (family.rope == RopeForm::none) {
    config.rope = {.type = RopeType::still, .dims = config.head_dim};
  } else if (family.rope == RopeForm::by_layer) {
    LayerRopes ropes = read_layer_ropes(read, where, config.head_dim);
    config.rope = std::move(ropes.full);
    config.sliding_rope = std::move(ropes.sliding);
  } else {
    config.rope = read_rope(read, where, config.head_dim, config.max_position,
                            {.phi3 = family.rope == RopeForm::phi3,
                             .theta = family.rope_theta,
                             .rotated = family.rotated});
  }
  config.unrotated = read_unrotated(json, read, where, family, config.layers);
  read_window(json, read, where, config);
  for (int layer = 0; family.full_layers_unrotated && layer < config.layers; ++layer)
    config.unrotated.push_back(config.window(static_cast<size_t>(layer)) == 0);
  if (std::find(config.unrotated.begin(), config.unrotated.end(), true) == config.unrotated.end())
    config.unrotated.clear();
  if (family.bos > 0 && family.bos < config.vocab_size && !json.contains("bos_token_id"))
    config.bos = family.bos;
  if (!json.contains("eos_token_id"))
    for (const Token eos : family.eos)
      if (eos > 0 && eos < config.vocab_size) config.eos.push_back(eos);
  read_special_ids(json, where, config);
  return config;
}

}  // namespace

ModelConfig parse_model_config(const Json& json, const std::string& where) {
  const Family* family = nullptr;
  try {
    JsonReader read(json, where);
    family = &family_of(read, where);
    return parse_usual(with_usual_names(json, where, *family), where, *family);
  } catch (const Error& error) {
    std::string what = std::string(as_model_error(error, where).what()).substr(where.size() + 2);
    // The message has the names that this config has, or would have.
    for (const KeyName& key : family ? family->keys : std::span<const KeyName>())
      if (key.own && (json.contains(key.own) || !json.contains(key.usual))) {
        const bool both = !json.contains(key.own) && family->has_usual(key.usual);
        what = replace_all(std::move(what), str("'", key.usual, "'"),
                           str("'", key.own, "'", both ? str(" or '", key.usual, "'") : ""));
      }
    throw ModelError(where, what);
  }
}

Json read_config_json(const std::filesystem::path& model) {
  if (const auto file = gguf_file(model))
    return gguf_config(Gguf(MappedFile(*file).bytes(), file->string()));
  return read_model_json(model / "config.json");
}

ModelConfig read_model_config(const std::filesystem::path& folder,
                              const std::filesystem::path& adapter) {
  std::error_code ignored;
  if (const std::string why = why_no_checkpoint(folder); !why.empty())
    throw ModelError(folder.string(), why);
  const auto gguf = gguf_file(folder);
  const std::filesystem::path file = gguf ? *gguf : folder / "config.json";
  Json json = read_config_json(folder);
  ModelConfig config = parse_model_config(json, file.string());
  std::filesystem::path generation = folder / "generation_config.json";
  if (std::filesystem::exists(generation, ignored)) {
    json = read_model_json(generation);
    if (!json.is_object())
      throw ModelError(generation.string(), str("is ", json.type_name(), ", expected an object"));
    read_special_ids(json, generation.string(), config);
  } else {
    generation = file;  // older checkpoints keep these settings in config.json
  }
  config.generation = parse_generation_rules(json, generation.string(), config.vocab_size);
  if ((config.tied_head || gguf) && CheckpointFiles::there(folder)) {
    const CheckpointFiles files(folder);
    if (config.tied_head) config.tied_head = !files.has_own_head(*config.family);
    for (const auto& [name, entry] : files.tensors())
      if (const GgmlType* type = entry.tensor.form.type; type && type->block > 1)
        config.blocks.emplace(name, type);
  }
  if (config.tied_head && !adapter.empty() &&
      std::filesystem::exists(adapter / kAdapterConfig, ignored)) {
    config.head_from_embedding = AdapterConfig(adapter).splits_tied(*config.family);
    config.tied_head = !config.head_from_embedding;
  }
  config.extra_heads = count_extra_heads(extra_heads_file(folder, adapter));
  return config;
}

ModelConfig with_first_layers(ModelConfig config, int layers, const std::filesystem::path& folder) {
  if (layers == 0) return config;
  if (layers > config.layers)
    throw ModelError(folder.string(), str("has ", counted(config.layers, "layer"), ", expected ",
                                          layers, " or more, whose first ones an adapter changes"));
  config.layers = layers;
  for (std::vector<bool>* by_layer : {&config.slides, &config.experts.layers, &config.unrotated})
    if (!by_layer->empty()) by_layer->resize(static_cast<size_t>(layers));
  return config;
}

std::int64_t parameter_count(const ModelConfig& config) {
  std::int64_t sum = 0;
  for (const Parameter& parameter : parameters(config)) sum += parameter.elements();
  return sum;
}

std::vector<Rope> ModelConfig::ropes() const {
  std::vector<Rope> all{rope};
  if (sliding_rope) all.push_back(*sliding_rope);
  if (!unrotated.empty()) all.push_back({.type = RopeType::still, .dims = rope.dims});
  return all;
}

std::vector<int> ModelConfig::windows() const {
  std::vector<int> all;
  if (slides.empty() || std::find(slides.begin(), slides.end(), false) != slides.end())
    all.push_back(0);
  if (std::find(slides.begin(), slides.end(), true) != slides.end()) all.push_back(sliding_window);
  return all;
}

}  // namespace pardec
