#include "src/model/parameters.hpp"

#include "src/support/text.hpp"

namespace pardec {

std::int64_t Parameter::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

std::vector<Parameter> parameters(const ModelConfig& config) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const std::int64_t queries = std::int64_t{config.heads} * config.head_dim;
  const std::int64_t keys = std::int64_t{config.kv_heads} * config.head_dim;
  std::vector<Parameter> all{{"model.embed_tokens.weight", {config.vocab_size, hidden}}};
  for (int layer = 0; layer < config.layers; ++layer) {
    const std::string prefix = str("model.layers.", layer, ".");
    const auto linear = [&](const char* name, std::int64_t out, std::int64_t in, bool bias) {
      all.push_back({prefix + name + ".weight", {out, in}});
      if (bias) all.push_back({prefix + name + ".bias", {out}});
    };
    if (!config.post_norms) all.push_back({prefix + "input_layernorm.weight", {hidden}});
    if (config.fused) {
      linear("self_attn.qkv_proj", queries + 2 * keys, hidden, config.attention_bias);
    } else {
      linear("self_attn.q_proj", queries, hidden, config.attention_bias);
      linear("self_attn.k_proj", keys, hidden, config.attention_bias);
      linear("self_attn.v_proj", keys, hidden, config.attention_bias);
    }
    linear("self_attn.o_proj", hidden, queries, config.output_bias);
    if (config.qk_norm || config.qk_norm_whole) {
      const bool whole = config.qk_norm_whole;
      all.push_back({prefix + "self_attn.q_norm.weight", {whole ? queries : config.head_dim}});
      all.push_back({prefix + "self_attn.k_norm.weight", {whole ? keys : config.head_dim}});
    }
    all.push_back({prefix + "post_attention_layernorm.weight", {hidden}});
    if (config.fused) {
      linear("mlp.gate_up_proj", 2 * inner, hidden, config.mlp_bias);
    } else {
      linear("mlp.gate_proj", inner, hidden, config.mlp_bias);
      linear("mlp.up_proj", inner, hidden, config.mlp_bias);
    }
    linear("mlp.down_proj", hidden, inner, config.mlp_bias);
    if (config.post_norms) all.push_back({prefix + "post_feedforward_layernorm.weight", {hidden}});
  }
  all.push_back({"model.norm.weight", {hidden}});
  if (!config.tied_head) all.push_back({"lm_head.weight", {config.vocab_size, hidden}});
  return all;
}

std::vector<Parameter> one_extra_head(const ModelConfig& config, int head, int blocks) {
  const std::int64_t hidden = config.hidden_size;
  std::vector<Parameter> all;
  for (int block = 0; block < blocks; ++block) {
    all.push_back({str(head, ".", block, ".linear.weight"), {hidden, hidden}});
    all.push_back({str(head, ".", block, ".linear.bias"), {hidden}});
  }
  all.push_back({str(head, ".", blocks, ".weight"), {config.vocab_size, hidden}});
  return all;
}

std::vector<Parameter> extra_head_parameters(const ModelConfig& config, int heads, int blocks) {
  std::vector<Parameter> all;
  for (int head = 0; head < heads; ++head)
    for (Parameter& parameter : one_extra_head(config, head, blocks))
      all.push_back(std::move(parameter));
  return all;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape) sizes.push_back(std::to_string(size));
  return str("[", join(sizes, ", "), "]");
}

}  // namespace pardec
