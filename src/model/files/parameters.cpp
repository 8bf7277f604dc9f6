#include "src/model/files/parameters.hpp"

#include <algorithm>
#include <stdexcept>

#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

// As in llama, and in the families that add to it.
constexpr RoleName kNames[] = {
    {Role::embedding, "model.embed_tokens"},
    {Role::input_norm, "input_layernorm"},
    {Role::qkv, "self_attn.qkv_proj"},
    {Role::q, "self_attn.q_proj"},
    {Role::k, "self_attn.k_proj"},
    {Role::v, "self_attn.v_proj"},
    {Role::o, "self_attn.o_proj"},
    {Role::sinks, "self_attn.sinks"},
    {Role::q_norm, "self_attn.q_norm"},
    {Role::k_norm, "self_attn.k_norm"},
    {Role::mlp_norm, "post_attention_layernorm"},
    {Role::gate_up, "mlp.gate_up_proj"},
    {Role::gate, "mlp.gate_proj"},
    {Role::up, "mlp.up_proj"},
    {Role::down, "mlp.down_proj"},
    {Role::router, "mlp.gate"},
    {Role::expert_gate, "gate_proj"},
    {Role::expert_up, "up_proj"},
    {Role::expert_down, "down_proj"},
    {Role::shared_router, "mlp.shared_expert_gate"},
    {Role::shared_gate, "mlp.shared_expert.gate_proj"},
    {Role::shared_up, "mlp.shared_expert.up_proj"},
    {Role::shared_down, "mlp.shared_expert.down_proj"},
    {Role::after_mlp_norm, "post_feedforward_layernorm"},
    {Role::final_norm, "model.norm"},
    {Role::head, "lm_head"},
};

const char* name_in(std::span<const RoleName> names, Role role) {
  const auto row = std::find_if(names.begin(), names.end(),
                                [&](const RoleName& name) { return name.role == role; });
  return row == names.end() ? nullptr : row->module;
}

}  // namespace

const char* module_name(const Family& family, Role role) {
  for (const std::span<const RoleName> names : {family.names, std::span<const RoleName>(kNames)})
    if (const char* name = name_in(names, role)) return name;
  throw std::logic_error(str(family.model_type, " has no name for role ", static_cast<int>(role)));
}

size_t layer_number_at(std::string_view name) {
  for (const Family& family : families()) {
    const std::string_view whole = family.layer_prefix;
    for (const std::string_view prefix : {whole, whole.substr(whole.find('.') + 1)})
      if (name.starts_with(prefix)) return prefix.size();
  }
  return 0;
}

std::string last_part(const std::string& module) { return module.substr(module.rfind('.') + 1); }

namespace {

const char* suffix(bool bias) { return bias ? ".bias" : ".weight"; }

}  // namespace

std::int64_t Parameter::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

std::vector<std::int64_t> Parameter::stored_shape() const {
  return transposed ? std::vector<std::int64_t>(shape.rbegin(), shape.rend()) : shape;
}

std::vector<std::int64_t> Parameter::stack_shape() const {
  std::vector<std::int64_t> whole = stored_shape();
  whole.back() = stack->size;
  whole.insert(whole.begin(), stack->experts);
  return whole;
}

std::string parameter_name(const Family& family, Role role, int layer, bool bias, int expert) {
  return str(layer < 0 ? std::string() : str(family.layer_prefix, layer, "."),
             expert < 0 ? std::string() : str(family.expert_prefix, expert, "."),
             module_name(family, role), role == Role::sinks ? "" : suffix(bias));
}

std::vector<Parameter> parameters(const ModelConfig& config) {
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const std::int64_t queries = std::int64_t{config.heads} * config.head_dim;
  const std::int64_t keys = std::int64_t{config.kv_heads} * config.head_dim;
  const BlockSpec& block = config.block;
  std::vector<Parameter> all;
  int layer = -1;
  const Family& family = *config.family;
  const auto add = [&](Role role, std::vector<std::int64_t> shape, bool bias = false) {
    const bool transposed = family.transposed && layer >= 0 && shape.size() == 2;
    all.push_back({.name = parameter_name(family, role, layer, bias),
                   .shape = std::move(shape),
                   .role = role,
                   .layer = layer,
                   .bias = bias,
                   .transposed = transposed});
  };
  const auto linear = [&](Role role, std::int64_t out, std::int64_t in, bool bias) {
    add(role, {out, in});
    if (bias) add(role, {out}, true);
  };
  const auto of_expert = [&](int expert, Role role, std::int64_t out, std::int64_t in) {
    for (const bool bias : {false, true}) {
      if (bias && !block.mlp_bias) continue;
      Parameter one{.name = parameter_name(family, role, layer, bias, expert),
                    .shape = bias ? std::vector{out} : std::vector{out, in},
                    .role = role,
                    .layer = layer,
                    .bias = bias,
                    .expert = expert};
      if (family.stacked_experts) {
        const bool down = role == Role::expert_down;
        one.transposed = !bias;
        one.stack = {str(family.layer_prefix, layer, ".", family.expert_prefix,
                         down ? "down_proj" : "gate_up_proj", bias ? "_bias" : ""),
                     config.experts.count, down ? out : 2 * out, role == Role::expert_up ? 1 : 0,
                     down ? 1 : 2};
      }
      all.push_back(std::move(one));
    }
  };
  const auto norm = [&](Role role) {
    const char* other = block.two_norms ? name_in(family.two_norm_names, role) : nullptr;
    for (const bool bias : {false, true}) {
      if (bias && !block.norm_bias) continue;
      add(role, {hidden}, bias);
      if (other) all.back().name = str(family.layer_prefix, layer, ".", other, suffix(bias));
    }
  };
  add(Role::embedding, {config.vocab_size, hidden});
  if (block.learned_positions) add(Role::positions, {config.max_position, hidden});
  for (layer = 0; layer < config.layers; ++layer) {
    if (block.norms != Norms::after) norm(Role::input_norm);
    if (block.qkv != Qkv::apart) {
      linear(Role::qkv, queries + 2 * keys, hidden, block.attention_bias);
    } else {
      linear(Role::q, queries, hidden, block.attention_bias);
      linear(Role::k, keys, hidden, block.attention_bias);
      linear(Role::v, keys, hidden, block.attention_bias);
    }
    linear(Role::o, hidden, queries, block.output_bias);
    if (block.sinks) add(Role::sinks, {config.heads});
    if (block.qk_norm != QkNorm::none) {
      const bool whole = block.qk_norm == QkNorm::whole;
      add(Role::q_norm, {whole ? queries : config.head_dim});
      add(Role::k_norm, {whole ? keys : config.head_dim});
    }
    if (block.norms != Norms::before) norm(Role::after_attention_norm);
    if (block.norms != Norms::after && (!block.parallel || block.two_norms)) norm(Role::mlp_norm);
    if (config.experts.in(static_cast<size_t>(layer))) {
      const std::int64_t of_one = config.experts.inner;
      linear(Role::router, config.experts.count, hidden, block.router_bias);
      for (int expert = 0; expert < config.experts.count; ++expert) {
        of_expert(expert, Role::expert_gate, of_one, hidden);
        of_expert(expert, Role::expert_up, of_one, hidden);
        of_expert(expert, Role::expert_down, hidden, of_one);
      }
      if (const std::int64_t shared = config.experts.shared_inner; shared > 0) {
        add(Role::shared_router, {1, hidden});
        add(Role::shared_gate, {shared, hidden});
        add(Role::shared_up, {shared, hidden});
        add(Role::shared_down, {hidden, shared});
      }
    } else if (block.fused_gate_up) {
      linear(Role::gate_up, 2 * inner, hidden, false);
    } else {
      if (block.gated) linear(Role::gate, inner, hidden, block.mlp_bias);
      linear(Role::up, inner, hidden, block.mlp_bias);
    }
    if (!config.experts.in(static_cast<size_t>(layer)))
      linear(Role::down, hidden, inner, block.mlp_bias);
    if (block.norms != Norms::before) norm(Role::after_mlp_norm);
  }
  layer = -1;
  norm(Role::final_norm);
  if (!config.tied_head) add(Role::head, {config.vocab_size, hidden});
  if (block.head_bias) add(Role::head, {config.vocab_size}, true);
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
