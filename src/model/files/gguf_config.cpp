#include "src/model/files/gguf_config.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "src/model/files/families.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::array kGgufFamilies{
    GgufFamily{
        .architecture = "gemma2", .model_type = "gemma2", .pattern = 2, .scaled_by_width = 46},
    GgufFamily{
        .architecture = "gemma3", .model_type = "gemma3_text", .pattern = 6, .scaled_by_width = 62},
    GgufFamily{.architecture = "gpt-oss",
               .model_type = "gpt_oss",
               .pattern = 2,
               .mlp_norm = "post_attention_norm"},
    GgufFamily{.architecture = "llama", .model_type = "llama", .rotates_neighbours = true},
    GgufFamily{.architecture = "olmo2", .model_type = "olmo2"},
    GgufFamily{.architecture = "qwen2", .model_type = "qwen2"},
    GgufFamily{.architecture = "qwen3", .model_type = "qwen3"},
    GgufFamily{.architecture = "qwen3moe", .model_type = "qwen3_moe"}};

/// Reads keys that begin with the architecture's name.
class Keys {
 public:
  explicit Keys(const Gguf& gguf) : gguf_(gguf), prefix_(*gguf.text("general.architecture")) {}

  const std::string& prefix() const { return prefix_; }
  std::string key(const char* name) const { return str(prefix_, ".", name); }
  bool has(const char* name) const { return gguf_.has(key(name)); }
  std::int64_t whole(const char* name) const {
    const auto value = gguf_.whole(key(name));
    if (!value)
      throw ModelError(gguf_.where(), str("has no metadata '", key(name), "', expected a number"));
    return *value;
  }
  double number(const char* name) const {
    const auto value = gguf_.number(key(name));
    if (!value)
      throw ModelError(gguf_.where(), str("has no metadata '", key(name), "', expected a number"));
    return *value;
  }
  [[noreturn]] void refuse(const char* name, const std::string& found,
                           const std::string& expected) const {
    throw ModelError(gguf_.where(), str("metadata '", key(name), "' is ", found,
                                        ", which is not supported; expected ", expected));
  }

 private:
  const Gguf& gguf_;
  std::string prefix_;
};

/// ModelError: the file is one of several, or has more than a network.
void refuse_parts(const Gguf& gguf, const Keys& keys) {
  if (const auto parts = gguf.whole("split.count").value_or(1); parts > 1)
    throw ModelError(gguf.where(), str("is one of ", parts,
                                       " parts of a network, which are not "
                                       "read; llama-gguf-split joins them"));
  if (const auto type = gguf.text("general.type"); type && *type != "model")
    throw ModelError(gguf.where(), str("has general.type '", repair_utf8(*type),
                                       "', expected 'model': a whole network"));
  if (keys.prefix() == "llama" && gguf.whole(keys.key("expert_count")).value_or(0) > 0)
    keys.refuse("expert_count", std::to_string(keys.whole("expert_count")),
                "a network without experts (Mixtral is not supported)");
}

/// The factors of the rotary embedding, for llama3's rope and older forms.
Json rope_scaling(const Gguf& gguf, const Keys& keys, std::int64_t positions) {
  constexpr const char* kType = "rope.scaling.type";
  const auto type = gguf.text(keys.key(kType));
  if (const auto found = gguf.tensors().find("rope_freqs.weight"); found != gguf.tensors().end()) {
    // The file has llama3's divisors of the frequencies, and not the numbers that they came from.
    // `longrope` is the form of config.json that has divisors.
    const GgufTensor& tensor = found->second;
    if (std::string_view(tensor.type->name) != "F32")
      throw ModelError(gguf.where(), str("tensor 'rope_freqs.weight' has type ", tensor.type->name,
                                         ", expected F32"));
    std::vector<float> divisors(tensor.data.size() / sizeof(float));
    std::copy_n(reinterpret_cast<const std::byte*>(tensor.data.data()), tensor.data.size(),
                reinterpret_cast<std::byte*>(divisors.data()));
    return {{"rope_type", "longrope"},
            {"factor", 1.0},
            {"attention_factor", 1.0},
            {"original_max_position_embeddings", positions},
            {"short_factor", divisors}};
  }
  if (!type || *type == "none") return nullptr;
  if (*type == "linear")
    return {{"rope_type", "linear"}, {"factor", keys.number("rope.scaling.factor")}};
  if (*type == "yarn")
    return {
        {"rope_type", "yarn"},
        {"factor", keys.number("rope.scaling.factor")},
        {"original_max_position_embeddings", keys.whole("rope.scaling.original_context_length")}};
  keys.refuse(kType, str("'", repair_utf8(*type), "'"), "none, linear or yarn");
}

/// Layers with a window, from the key or from the family's rule.
Json layer_types(const Gguf& gguf, const Keys& keys, const GgufFamily& family,
                 std::int64_t layers) {
  constexpr const char* kPattern = "attention.sliding_window_pattern";
  std::vector<std::int64_t> slides;
  std::int64_t pattern = family.pattern;
  if (keys.has(kPattern)) {
    if (gguf.is_array(keys.key(kPattern)))
      slides = gguf.wholes(keys.key(kPattern));
    else
      pattern = keys.whole(kPattern);
    if (pattern < 1) keys.refuse(kPattern, std::to_string(pattern), "1 or more");
  }
  Json types = Json::array();
  for (std::int64_t layer = 0; layer < (slides.empty() ? layers : std::ssize(slides)); ++layer) {
    const bool slide =
        slides.empty() ? (layer + 1) % pattern != 0 : slides[static_cast<size_t>(layer)] != 0;
    types.push_back(slide ? "sliding_attention" : "full_attention");
  }
  return types;
}

void add_windows(const Gguf& gguf, const Keys& keys, const GgufFamily& family, Json& config) {
  const std::int64_t layers = config["num_hidden_layers"];
  config["sliding_window"] = keys.whole("attention.sliding_window");
  config["layer_types"] = layer_types(gguf, keys, family, layers);
  if (!find_family(family.model_type)->query_scalar) return;
  config["query_pre_attn_scalar"] =
      layers == family.scaled_by_width
          ? config["hidden_size"].get<std::int64_t>() /
                std::max<std::int64_t>(1, config["num_attention_heads"].get<std::int64_t>())
          : config["head_dim"].get<std::int64_t>();
  for (const auto& [key, name] : {std::pair{"attn_logit_softcapping", "attn_logit_softcapping"},
                                  std::pair{"final_logit_softcapping", "final_logit_softcapping"}})
    if (const auto cap = gguf.number(keys.key(name))) config[key] = *cap;
  if (std::string_view(family.architecture) == "gemma3")
    config["rope_local_base_freq"] = gguf.number(keys.key("rope.freq_base_swa")).value_or(1e4);
}

}  // namespace

const GgufFamily& gguf_family(const Gguf& gguf) {
  const auto name = gguf.text("general.architecture");
  if (!name)
    throw ModelError(gguf.where(), "has no metadata 'general.architecture', expected a name");
  std::vector<std::string> known;
  for (const GgufFamily& family : kGgufFamilies) {
    if (*name == family.architecture) return family;
    known.emplace_back(family.architecture);
  }
  throw ModelError(
      gguf.where(),
      str("has general.architecture '", repair_utf8(shortened(*name, 80)),
          "', which is not supported in a GGUF file; supported are ", join(known, ", ")));
}

Json gguf_config(const Gguf& gguf) {
  const GgufFamily& family = gguf_family(gguf);
  const Keys keys(gguf);
  refuse_parts(gguf, keys);
  const auto embedding = gguf.tensors().find("token_embd.weight");
  if (embedding == gguf.tensors().end() || embedding->second.shape.size() != 2)
    throw ModelError(gguf.where(), "has no matrix 'token_embd.weight', expected the embedding");
  const std::int64_t layers = keys.whole("block_count"), most = std::ssize(gguf.tensors());
  if (layers < 1 || layers > most)
    throw ModelError(gguf.where(), str("metadata '", keys.key("block_count"), "' is ", layers,
                                       ", expected 1 to ", most, ", the number of tensors"));
  const std::string type = main_type(gguf);
  Json config = {{"model_type", family.model_type},
                 {"vocab_size", embedding->second.shape[0]},
                 {"hidden_size", keys.whole("embedding_length")},
                 {"intermediate_size", keys.whole("feed_forward_length")},
                 {"num_hidden_layers", layers},
                 {"num_attention_heads", keys.whole("attention.head_count")},
                 {"max_position_embeddings", keys.whole("context_length")},
                 {"rms_norm_eps", keys.number("attention.layer_norm_rms_epsilon")},
                 {"rope_theta", gguf.number(keys.key("rope.freq_base")).value_or(1e4)},
                 {"tie_word_embeddings", !gguf.tensors().contains("output.weight")},
                 {"torch_dtype", type == "BF16"  ? "bfloat16"
                                 : type == "F16" ? "float16"
                                 : type == "F32" ? "float32"
                                                 : type}};
  const std::int64_t heads = config["num_attention_heads"];
  config["num_key_value_heads"] =
      keys.has("attention.head_count_kv") ? keys.whole("attention.head_count_kv") : heads;
  const std::int64_t width =
      keys.has("attention.key_length")
          ? keys.whole("attention.key_length")
          : config["hidden_size"].get<std::int64_t>() / std::max<std::int64_t>(1, heads);
  config["head_dim"] = width;
  for (const char* same : {"attention.value_length", "rope.dimension_count"})
    if (keys.has(same) && keys.whole(same) != width)
      keys.refuse(same, std::to_string(keys.whole(same)),
                  str(width, ", the number of a key's dimensions"));
  if (gguf.tensors().contains("blk.0.attn_output.bias")) config["attention_bias"] = true;
  if (gguf.tensors().contains("blk.0.ffn_down.bias")) config["mlp_bias"] = true;
  if (Json scaling = rope_scaling(gguf, keys, config["max_position_embeddings"]);
      !scaling.is_null())
    config["rope_scaling"] = std::move(scaling);
  if (family.pattern > 0) add_windows(gguf, keys, family, config);
  if (keys.has("expert_count")) {
    config["num_experts"] = keys.whole("expert_count");
    config["num_experts_per_tok"] = keys.whole("expert_used_count");
    config[find_family(family.model_type)->experts.inner_key] =
        keys.whole("expert_feed_forward_length");
    config["norm_topk_prob"] = true;  // ggml always divides by the sum
  }
  if (const auto bos = gguf.whole("tokenizer.ggml.bos_token_id")) config["bos_token_id"] = *bos;
  Json ends = Json::array();
  for (const char* end : {"eos", "eot", "eom"})
    if (const auto id = gguf.whole(str("tokenizer.ggml.", end, "_token_id"));
        id && std::find(ends.begin(), ends.end(), Json(*id)) == ends.end())
      ends.push_back(*id);
  config["eos_token_id"] = ends;
  return config;
}

std::string main_type(const Gguf& gguf) {
  std::map<std::string, std::int64_t> numbers;
  for (const auto& [name, tensor] : gguf.tensors())
    numbers[tensor.type->name] +=
        static_cast<std::int64_t>(tensor.data.size()) / tensor.type->bytes * tensor.type->block;
  const auto most =
      std::max_element(numbers.begin(), numbers.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == numbers.end() ? "" : most->first;
}

}  // namespace pardec
