#include "src/model/files/parameters.hpp"

#include <stdexcept>
#include <tuple>

#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

const char* module_name(Role role) {
  switch (role) {
    case Role::embedding:
      return "model.embed_tokens";
    case Role::input_norm:
      return "input_layernorm";
    case Role::qkv:
      return "self_attn.qkv_proj";
    case Role::q:
      return "self_attn.q_proj";
    case Role::k:
      return "self_attn.k_proj";
    case Role::v:
      return "self_attn.v_proj";
    case Role::o:
      return "self_attn.o_proj";
    case Role::q_norm:
      return "self_attn.q_norm";
    case Role::k_norm:
      return "self_attn.k_norm";
    case Role::post_attention_norm:
      return "post_attention_layernorm";
    case Role::pre_mlp_norm:
      return "pre_feedforward_layernorm";
    case Role::gate_up:
      return "mlp.gate_up_proj";
    case Role::gate:
      return "mlp.gate_proj";
    case Role::up:
      return "mlp.up_proj";
    case Role::down:
      return "mlp.down_proj";
    case Role::router:
      return "mlp.gate";
    case Role::expert_gate:
      return "gate_proj";
    case Role::expert_up:
      return "up_proj";
    case Role::expert_down:
      return "down_proj";
    case Role::post_mlp_norm:
      return "post_feedforward_layernorm";
    case Role::final_norm:
      return "model.norm";
    case Role::head:
      return "lm_head";
    case Role::extra_block:
    case Role::extra_out:
      break;
  }
  throw std::logic_error("an extra head's weights are named by head and block");
}

namespace {

const char* suffix(bool bias) { return bias ? ".bias" : ".weight"; }

}  // namespace

std::int64_t Parameter::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

std::string parameter_name(Role role, int layer, bool bias, int expert) {
  return str(layer < 0 ? std::string() : str("model.layers.", layer, "."),
             expert < 0 ? std::string() : str("mlp.experts.", expert, "."), module_name(role),
             suffix(bias));
}

std::vector<Parameter> parameters(const ModelConfig& config) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const std::int64_t queries = std::int64_t{config.heads} * config.head_dim;
  const std::int64_t keys = std::int64_t{config.kv_heads} * config.head_dim;
  const BlockSpec& block = config.block;
  std::vector<Parameter> all;
  int layer = -1;
  const auto add = [&](Role role, std::vector<std::int64_t> shape, bool bias = false) {
    all.push_back({parameter_name(role, layer, bias), std::move(shape), role, layer, bias});
  };
  const auto linear = [&](Role role, std::int64_t out, std::int64_t in, bool bias) {
    add(role, {out, in});
    if (bias) add(role, {out}, true);
  };
  add(Role::embedding, {config.vocab_size, hidden});
  for (layer = 0; layer < config.layers; ++layer) {
    if (block.norms != Norms::after) add(Role::input_norm, {hidden});
    if (block.fused) {
      linear(Role::qkv, queries + 2 * keys, hidden, false);
    } else {
      linear(Role::q, queries, hidden, block.attention_bias);
      linear(Role::k, keys, hidden, block.attention_bias);
      linear(Role::v, keys, hidden, block.attention_bias);
    }
    linear(Role::o, hidden, queries, block.output_bias);
    if (block.qk_norm != QkNorm::none) {
      const bool whole = block.qk_norm == QkNorm::whole;
      add(Role::q_norm, {whole ? queries : config.head_dim});
      add(Role::k_norm, {whole ? keys : config.head_dim});
    }
    add(Role::post_attention_norm, {hidden});
    if (block.norms == Norms::both) add(Role::pre_mlp_norm, {hidden});
    if (config.experts.in(static_cast<size_t>(layer))) {
      const std::int64_t of_one = config.experts.inner;
      add(Role::router, {config.experts.count, hidden});
      for (int expert = 0; expert < config.experts.count; ++expert)
        for (const auto& [role, out, in] : {std::tuple{Role::expert_gate, of_one, hidden},
                                            std::tuple{Role::expert_up, of_one, hidden},
                                            std::tuple{Role::expert_down, hidden, of_one}})
          all.push_back({.name = parameter_name(role, layer, false, expert),
                         .shape = {out, in},
                         .role = role,
                         .layer = layer,
                         .expert = expert});
    } else if (block.fused) {
      linear(Role::gate_up, 2 * inner, hidden, false);
    } else {
      linear(Role::gate, inner, hidden, block.mlp_bias);
      linear(Role::up, inner, hidden, block.mlp_bias);
    }
    if (!config.experts.in(static_cast<size_t>(layer)))
      linear(Role::down, hidden, inner, block.mlp_bias);
    if (block.norms != Norms::before) add(Role::post_mlp_norm, {hidden});
  }
  layer = -1;
  add(Role::final_norm, {hidden});
  if (!config.tied_head) add(Role::head, {config.vocab_size, hidden});
  return all;
}

std::string extra_block_name(int head, int block, bool bias) {
  return str(head, ".", block, ".linear", suffix(bias));
}

std::string extra_out_name(int head, int blocks) { return str(head, ".", blocks, suffix(false)); }

std::vector<Parameter> one_extra_head(const ModelConfig& config, int head,
                                      const ExtraHeadShape& shape) {
  const std::int64_t hidden = config.hidden_size;
  std::vector<Parameter> all;
  for (int block = 0; block < shape.blocks; ++block) {
    all.push_back({extra_block_name(head, block), {hidden, hidden}, Role::extra_block});
    all.push_back(
        {extra_block_name(head, block, true), {hidden}, Role::extra_block, -1, /*bias=*/true});
  }
  if (!shape.shares_head)
    all.push_back(
        {extra_out_name(head, shape.blocks), {config.vocab_size, hidden}, Role::extra_out});
  return all;
}

std::vector<Parameter> extra_head_parameters(const ModelConfig& config,
                                             const ExtraHeadShape& shape) {
  std::vector<Parameter> all;
  for (int head = 0; head < shape.heads; ++head)
    for (Parameter& parameter : one_extra_head(config, head, shape))
      all.push_back(std::move(parameter));
  return all;
}

std::string shape_text(const ExtraHeadShape& shape) {
  return str(
      shape.heads, " of ", counted(shape.blocks, "block"),
      shape.shares_head ? ", on the network's own head" : ", each with a matrix to the vocabulary");
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape) sizes.push_back(std::to_string(size));
  return str("[", join(sizes, ", "), "]");
}

}  // namespace pardec
