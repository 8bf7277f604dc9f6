#include "src/model/files/families.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr BiasKey kAttentionBias[] = {{.key = "attention_bias", .qkv = true, .o = true}};
constexpr BiasKey kLlamaBiases[] = {kAttentionBias[0], {.key = "mlp_bias", .mlp = true}};
constexpr BiasKey kGlmBiases[] = {{.key = "attention_bias", .fallback = true, .qkv = true}};
constexpr BiasKey kQkvBias[] = {{.key = "qkv_bias", .fallback = true, .qkv = true}};
// transformers writes the first two, and published files have the others.
constexpr BiasKey kInternBiases[] = {kLlamaBiases[0],
                                     kLlamaBiases[1],
                                     {.key = "qkv_bias", .qkv = true},
                                     {.key = "bias", .o = true, .mlp = true}};
constexpr BiasKey kErnieBiases[] = {{.key = "use_bias", .qkv = true, .o = true, .mlp = true}};

// Names that differ from those of llama (parameters.cpp).
constexpr RoleName kSandwichNames[] = {
    {Role::after_attention_norm, "post_attention_layernorm"},
    {Role::mlp_norm, "pre_feedforward_layernorm"},
};
constexpr RoleName kOlmo2Names[] = {{Role::after_attention_norm, "post_attention_layernorm"}};
constexpr RoleName kGlm4Names[] = {
    {Role::after_attention_norm, "post_self_attn_layernorm"},
    {Role::after_mlp_norm, "post_mlp_layernorm"},
};
constexpr RoleName kMixtralNames[] = {
    {Role::router, "block_sparse_moe.gate"},
    {Role::expert_gate, "w1"},
    {Role::expert_up, "w3"},
    {Role::expert_down, "w2"},
};

constexpr Family kFamilies[] = {
    {.model_type = "ernie4_5",
     .architecture = "Ernie4_5ForCausalLM",
     .head_dim = 128,
     .kv_heads = 2,
     .max_position = 131072,
     .rms_norm_eps = 1e-5,
     .tied = true,
     .bos = 1,
     .eos = {2},
     .block = {.neighbours_turn = true},
     .biases = kErnieBiases,
     .rope_theta = 500000},
    {.model_type = "gemma2",
     .architecture = "Gemma2ForCausalLM",
     .head_dim = 256,
     .kv_heads = 4,
     .max_position = 8192,
     .tied = true,
     .bos = 2,
     .eos = {1},
     .block = {.norms = Norms::both,
               .norm_adds_one = true,
               .activation = Activation::gelu_tanh,
               .query_scalar = 256,
               .attention_cap = 50,
               .logit_cap = 30},
     .biases = kAttentionBias,
     .activation_key = "hidden_activation",
     .query_scalar = true,
     .attention_cap = true,
     .logit_cap = true,
     .scaled_embedding = true,
     .bidirectional_key = true,
     .windows = Windows::all_but_nth,
     .window_pattern = 2,
     .names = kSandwichNames},
    {.model_type = "gemma3_text",
     .architecture = "Gemma3ForCausalLM",
     .head_dim = 256,
     .kv_heads = 4,
     .max_position = 131072,
     .tied = true,
     .bos = 2,
     .eos = {1},
     .block = {.norms = Norms::both,
               .qk_norm = QkNorm::heads,
               .norm_adds_one = true,
               .activation = Activation::gelu_tanh,
               .query_scalar = 256},
     .biases = kAttentionBias,
     .activation_key = "hidden_activation",
     .query_scalar = true,
     .logit_cap = true,
     .scaled_embedding = true,
     .bidirectional_key = true,
     .windows = Windows::all_but_nth,
     .window_pattern = 6,
     .pattern_key = "sliding_window_pattern",
     .rope = RopeForm::by_layer,
     .names = kSandwichNames},
    {.model_type = "glm",
     .architecture = "GlmForCausalLM",
     .head_dim = 128,
     .kv_heads = 2,
     .max_position = 131072,
     .rms_norm_eps = 1.5625e-7,
     .eos = {151329, 151336, 151338},
     .block = {.fused_gate_up = true, .neighbours_turn = true},
     .biases = kGlmBiases,
     .rotated = 0.5},
    {.model_type = "glm4",
     .architecture = "Glm4ForCausalLM",
     .head_dim = 128,
     .kv_heads = 2,
     .max_position = 131072,
     .rms_norm_eps = 1.5625e-7,
     .eos = {151329, 151336, 151338},
     .block = {.norms = Norms::both, .fused_gate_up = true, .neighbours_turn = true},
     .biases = kGlmBiases,
     .rotated = 0.5,
     .names = kGlm4Names},
    {.model_type = "granite",
     .architecture = "GraniteForCausalLM",
     .biases = kLlamaBiases,
     .multipliers = true},
    {.model_type = "internlm3",
     .architecture = "InternLM3ForCausalLM",
     .other_architecture = "LlamaForCausalLM",
     .head_dim = 128,
     .kv_heads = 2,
     .max_position = 32768,
     .rms_norm_eps = 1e-5,
     .bos = 1,
     .eos = {2},
     .biases = kInternBiases},
    {.model_type = "llama", .architecture = "LlamaForCausalLM", .biases = kLlamaBiases},
    {.model_type = "mistral",
     .architecture = "MistralForCausalLM",
     .kv_heads = 8,
     .max_position = 131072,
     .windows = Windows::every_layer},
    {.model_type = "mixtral",
     .architecture = "MixtralForCausalLM",
     .kv_heads = 8,
     .max_position = 131072,
     .rms_norm_eps = 1e-5,
     .windows = Windows::every_layer,
     .window = 0,
     .rope_theta = 1e6,
     .experts = {.count = 8,
                 .used = 2,
                 .inner_key = "intermediate_size",
                 .inner = 14336,
                 .normalised = true},
     .names = kMixtralNames,
     .expert_prefix = "block_sparse_moe.experts."},
    {.model_type = "olmo2",
     .architecture = "Olmo2ForCausalLM",
     .rms_norm_eps = 1e-5,
     .eos = {50279},
     .block = {.norms = Norms::after, .qk_norm = QkNorm::whole},
     .biases = kAttentionBias,
     .names = kOlmo2Names},
    {.model_type = "olmoe",
     .architecture = "OlmoeForCausalLM",
     .max_position = 4096,
     .rms_norm_eps = 1e-5,
     .eos = {50279},
     .block = {.qk_norm = QkNorm::whole},
     .biases = kAttentionBias,
     .clip_key = true,
     .experts = {.count = 64, .used = 8, .inner_key = "intermediate_size", .inner = 2048}},
    {.model_type = "phi3",
     .architecture = "Phi3ForCausalLM",
     .max_position = 4096,
     .rms_norm_eps = 1e-5,
     .eos = {32000},
     .block = {.fused_qkv = true, .fused_gate_up = true},
     .windows = Windows::every_layer,
     .window = 0,
     .rope = RopeForm::phi3,
     .rotated = 1},
    {.model_type = "qwen2",
     .architecture = "Qwen2ForCausalLM",
     .kv_heads = 32,
     .max_position = 32768,
     .block = {.attention_bias = true},
     .windows = Windows::later_layers},
    {.model_type = "qwen2_moe",
     .architecture = "Qwen2MoeForCausalLM",
     .kv_heads = 16,
     .max_position = 32768,
     .biases = kQkvBias,
     .windows = Windows::none,
     .experts = {.count = 60, .used = 4, .inner = 1408, .some_layers = true, .shared_inner = 5632}},
    {.model_type = "qwen3",
     .architecture = "Qwen3ForCausalLM",
     .head_dim = 128,
     .kv_heads = 32,
     .max_position = 32768,
     .block = {.qk_norm = QkNorm::heads},
     .biases = kAttentionBias,
     .windows = Windows::later_layers},
    {.model_type = "qwen3_moe",
     .architecture = "Qwen3MoeForCausalLM",
     .kv_heads = 4,
     .max_position = 32768,
     .block = {.qk_norm = QkNorm::heads},
     .biases = kAttentionBias,
     .windows = Windows::if_used,
     .experts = {.count = 128, .used = 8, .inner = 768, .some_layers = true}},
    {.model_type = "smollm3",
     .architecture = "SmolLM3ForCausalLM",
     .kv_heads = 4,
     .max_position = 32768,
     .tied = true,
     .bos = 128000,
     .eos = {128001},
     .biases = kLlamaBiases,
     .rope_theta = 2000000,
     .unrotated_nth = 4},
};

const Family* found(auto&& fits) {
  const auto row = std::find_if(std::begin(kFamilies), std::end(kFamilies), fits);
  return row == std::end(kFamilies) ? nullptr : row;
}

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family* find_family(const std::string& model_type) {
  return found([&](const Family& row) { return model_type == row.model_type; });
}

const Family* find_architecture(const std::string& architecture) {
  return found([&](const Family& row) { return architecture == row.architecture; });
}

std::string supported_families() {
  std::vector<std::string> names;
  for (const Family& row : kFamilies) names.push_back(row.model_type);
  return "supported are " + join(names, ", ") + " (see model list-families)";
}

}  // namespace pardec
