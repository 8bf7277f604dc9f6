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

constexpr BiasKey kUseBias[] = {
    {.key = "use_bias", .fallback = true, .qkv = true, .o = true, .mlp = true}};
constexpr BiasKey kUseQkvBias[] = {{.key = "use_qkv_bias", .qkv = true}};
constexpr RoleName kStarcoder2Names[] = {{Role::up, "mlp.c_fc"}, {Role::down, "mlp.c_proj"}};
constexpr RoleName kPhiNames[] = {{Role::o, "self_attn.dense"},
                                  {Role::up, "mlp.fc1"},
                                  {Role::down, "mlp.fc2"},
                                  {Role::final_norm, "model.final_layernorm"}};

constexpr NeutralKey kGemmaNeutral[] = {{"use_bidirectional_attention", "false"}};
constexpr NeutralKey kOlmoeNeutral[] = {{"clip_qkv", "null"}};

constexpr BiasKey kNeoxBias[] = {
    {.key = "attention_bias", .fallback = true, .qkv = true, .o = true}};
constexpr KeyName kNeoxKeys[] = {{"num_key_value_heads", nullptr},
                                 {"partial_rotary_factor", nullptr},
                                 {"partial_rotary_factor", "rotary_pct"},
                                 {"rope_theta", nullptr},
                                 {"rope_theta", "rotary_emb_base"}};
constexpr RoleName kNeoxNames[] = {{Role::embedding, "gpt_neox.embed_in"},
                                   {Role::qkv, "attention.query_key_value"},
                                   {Role::o, "attention.dense"},
                                   {Role::up, "mlp.dense_h_to_4h"},
                                   {Role::down, "mlp.dense_4h_to_h"},
                                   {Role::final_norm, "gpt_neox.final_layer_norm"},
                                   {Role::head, "embed_out"}};

constexpr KeyName kGpt2Keys[] = {{"hidden_size", "n_embd"},
                                 {"intermediate_size", nullptr},
                                 {"num_key_value_heads", nullptr},
                                 {"intermediate_size", "n_inner"},
                                 {"num_hidden_layers", "n_layer"},
                                 {"num_attention_heads", "n_head"},
                                 {"max_position_embeddings", "n_positions"}};
constexpr NeutralKey kGpt2Neutral[] = {{"scale_attn_weights", "true"},
                                       {"scale_attn_by_inverse_layer_idx", "false"},
                                       {"add_cross_attention", "false"}};
constexpr RoleName kGpt2Names[] = {{Role::embedding, "transformer.wte"},
                                   {Role::positions, "transformer.wpe"},
                                   {Role::input_norm, "ln_1"},
                                   {Role::qkv, "attn.c_attn"},
                                   {Role::o, "attn.c_proj"},
                                   {Role::mlp_norm, "ln_2"},
                                   {Role::up, "mlp.c_fc"},
                                   {Role::down, "mlp.c_proj"},
                                   {Role::final_norm, "transformer.ln_f"}};

constexpr BiasKey kFalconBias[] = {{.key = "bias", .qkv = true, .o = true, .mlp = true}};
constexpr KeyName kFalconKeys[] = {{"hidden_size", "n_embed"},
                                   {"intermediate_size", nullptr},
                                   {"num_key_value_heads", nullptr},
                                   {"intermediate_size", "ffn_hidden_size"},
                                   {"num_key_value_heads", "num_kv_heads"}};
constexpr NeutralKey kFalconNeutral[] = {{"alibi", "false"}};
constexpr RoleName kFalconNames[] = {{Role::embedding, "transformer.word_embeddings"},
                                     {Role::qkv, "self_attention.query_key_value"},
                                     {Role::o, "self_attention.dense"},
                                     {Role::up, "mlp.dense_h_to_4h"},
                                     {Role::down, "mlp.dense_4h_to_h"},
                                     {Role::final_norm, "transformer.ln_f"}};
constexpr RoleName kFalconTwoNorms[] = {{Role::input_norm, "ln_attn"}, {Role::mlp_norm, "ln_mlp"}};

constexpr BiasKey kGptOssBias[] = {
    {.key = "attention_bias", .fallback = true, .qkv = true, .o = true}};
constexpr RoleName kGptOssNames[] = {{Role::router, "mlp.router"}};

constexpr NeutralKey kMiniCpmNeutral[] = {{"num_experts", "0"}, {"sparse_config", "null"}};

constexpr BiasKey kIntern2Bias[] = {{.key = "bias", .fallback = true, .qkv = true, .o = true}};
constexpr RoleName kIntern2Names[] = {{Role::embedding, "model.tok_embeddings"},
                                      {Role::input_norm, "attention_norm"},
                                      {Role::qkv, "attention.wqkv"},
                                      {Role::o, "attention.wo"},
                                      {Role::mlp_norm, "ffn_norm"},
                                      {Role::gate, "feed_forward.w1"},
                                      {Role::up, "feed_forward.w3"},
                                      {Role::down, "feed_forward.w2"},
                                      {Role::head, "output"}};

constexpr Family kFamilies[] = {
    {.model_type = "cohere",
     .architecture = "CohereForCausalLM",
     .max_position = 8192,
     .norm_eps = 1e-5,
     .eps_key = "layer_norm_eps",
     .tied = true,
     .bos = 5,
     .eos = {255001},
     .block = {.layer_norm = true, .parallel = true, .neighbours_turn = true},
     .biases = kAttentionBias,
     .logit_scale = 0.0625,
     .rope_theta = 500000},
    {.model_type = "cohere2",
     .architecture = "Cohere2ForCausalLM",
     .max_position = 8192,
     .norm_eps = 1e-5,
     .eps_key = "layer_norm_eps",
     .tied = true,
     .bos = 5,
     .eos = {255001},
     .block = {.layer_norm = true, .parallel = true, .neighbours_turn = true},
     .biases = kAttentionBias,
     .logit_scale = 0.0625,
     .full_layers_unrotated = true,
     .windows = Windows::all_but_nth,
     .window_pattern = 4,
     .pattern_key = "sliding_window_pattern"},
    {.model_type = "ernie4_5",
     .architecture = "Ernie4_5ForCausalLM",
     .head_dim = 128,
     .kv_heads = 2,
     .max_position = 131072,
     .norm_eps = 1e-5,
     .tied = true,
     .bos = 1,
     .eos = {2},
     .block = {.neighbours_turn = true},
     .biases = kErnieBiases,
     .rope_theta = 500000},
    {.model_type = "falcon",
     .architecture = "FalconForCausalLM",
     .inner_factor = 4,
     .norm_eps = 1e-5,
     .eps_key = "layer_norm_epsilon",
     .tied = true,
     .bos = 11,
     .eos = {11},
     .block = {.layer_norm = true,
               .norm_bias = true,
               .parallel = true,
               .activation = Activation::gelu,
               .gated = false,
               .qkv = Qkv::by_key_head},
     .biases = kFalconBias,
     .activation_key = "activation",
     .kind_keys = true,
     .neutral = kFalconNeutral,
     .keys = kFalconKeys,
     .names = kFalconNames,
     .two_norm_names = kFalconTwoNorms,
     .layer_prefix = "transformer.h."},
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
     .neutral = kGemmaNeutral,
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
     .neutral = kGemmaNeutral,
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
     .norm_eps = 1.5625e-7,
     .eos = {151329, 151336, 151338},
     .block = {.fused_gate_up = true, .neighbours_turn = true},
     .biases = kGlmBiases,
     .rotated = 0.5},
    {.model_type = "glm4",
     .architecture = "Glm4ForCausalLM",
     .head_dim = 128,
     .kv_heads = 2,
     .max_position = 131072,
     .norm_eps = 1.5625e-7,
     .eos = {151329, 151336, 151338},
     .block = {.norms = Norms::both, .fused_gate_up = true, .neighbours_turn = true},
     .biases = kGlmBiases,
     .rotated = 0.5,
     .names = kGlm4Names},
    {.model_type = "gpt2",
     .architecture = "GPT2LMHeadModel",
     .inner_factor = 4,
     .max_position = 1024,
     .norm_eps = 1e-5,
     .eps_key = "layer_norm_epsilon",
     .tied = true,
     .bos = 50256,
     .eos = {50256},
     .block = {.layer_norm = true,
               .norm_bias = true,
               .learned_positions = true,
               .activation = Activation::gelu_tanh,
               .gated = false,
               .qkv = Qkv::stacked,
               .attention_bias = true,
               .output_bias = true,
               .mlp_bias = true},
     .activation_key = "activation_function",
     .neutral = kGpt2Neutral,
     .keys = kGpt2Keys,
     .rope = RopeForm::none,
     .names = kGpt2Names,
     .layer_prefix = "transformer.h.",
     .transposed = true},
    {.model_type = "gpt_neox",
     .architecture = "GPTNeoXForCausalLM",
     .norm_eps = 1e-5,
     .eps_key = "layer_norm_eps",
     .eos = {2},
     .block = {.layer_norm = true,
               .norm_bias = true,
               .parallel = true,
               .two_norms = true,
               .activation = Activation::gelu,
               .gated = false,
               .qkv = Qkv::by_key_head,
               .mlp_bias = true},
     .biases = kNeoxBias,
     .parallel_key = true,
     .keys = kNeoxKeys,
     .rotated = 0.25,
     .names = kNeoxNames,
     .layer_prefix = "gpt_neox.layers."},
    {.model_type = "gpt_oss",
     .architecture = "GptOssForCausalLM",
     .head_dim = 64,
     .kv_heads = 8,
     .max_position = 131072,
     .norm_eps = 1e-5,
     .block = {.swiglu_limit = 7,
               .swiglu_slope = 1.702,
               .mlp_bias = true,
               .router_bias = true,
               .sinks = true},
     .biases = kGptOssBias,
     .swiglu_keys = true,
     .windows = Windows::all_but_nth,
     .window = 128,
     .window_pattern = 2,
     .rope_theta = 150000,
     .rope_scaling = R"({"rope_type": "yarn", "factor": 32, "truncate": false,
                         "original_max_position_embeddings": 4096})",
     .experts = {.count = 128,
                 .used = 4,
                 .inner_key = "intermediate_size",
                 .inner = 2880,
                 .normalised = true},
     .names = kGptOssNames,
     .stacked_experts = true},
    {.model_type = "granite",
     .architecture = "GraniteForCausalLM",
     .biases = kLlamaBiases,
     .multipliers = true},
    {.model_type = "internlm2",
     .architecture = "InternLM2ForCausalLM",
     .bos = 1,
     .eos = {2},
     .block = {.qkv = Qkv::by_key_head},
     .biases = kIntern2Bias,
     .names = kIntern2Names},
    {.model_type = "internlm3",
     .architecture = "InternLM3ForCausalLM",
     .other_architecture = "LlamaForCausalLM",
     .head_dim = 128,
     .kv_heads = 2,
     .max_position = 32768,
     .norm_eps = 1e-5,
     .bos = 1,
     .eos = {2},
     .biases = kInternBiases},
    {.model_type = "llama", .architecture = "LlamaForCausalLM", .biases = kLlamaBiases},
    {.model_type = "minicpm",
     .architecture = "MiniCPMForCausalLM",
     .tied = true,
     .bos = 1,
     .eos = {2},
     .biases = kAttentionBias,
     .mup_keys = true,
     .neutral = kMiniCpmNeutral},
    {.model_type = "mistral",
     .architecture = "MistralForCausalLM",
     .kv_heads = 8,
     .max_position = 131072,
     .windows = Windows::every_layer},
    {.model_type = "mixtral",
     .architecture = "MixtralForCausalLM",
     .kv_heads = 8,
     .max_position = 131072,
     .norm_eps = 1e-5,
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
     .norm_eps = 1e-5,
     .eos = {50279},
     .block = {.norms = Norms::after, .qk_norm = QkNorm::whole},
     .biases = kAttentionBias,
     .names = kOlmo2Names},
    {.model_type = "olmoe",
     .architecture = "OlmoeForCausalLM",
     .max_position = 4096,
     .norm_eps = 1e-5,
     .eos = {50279},
     .block = {.qk_norm = QkNorm::whole},
     .biases = kAttentionBias,
     .neutral = kOlmoeNeutral,
     .experts = {.count = 64, .used = 8, .inner_key = "intermediate_size", .inner = 2048}},
    {.model_type = "phi",
     .architecture = "PhiForCausalLM",
     .norm_eps = 1e-5,
     .eps_key = "layer_norm_eps",
     .bos = 1,
     .eos = {2},
     .block = {.layer_norm = true,
               .norm_bias = true,
               .parallel = true,
               .activation = Activation::gelu_tanh,
               .gated = false,
               .attention_bias = true,
               .output_bias = true,
               .mlp_bias = true,
               .head_bias = true},
     .rotated = 0.5,
     .names = kPhiNames},
    {.model_type = "phi3",
     .architecture = "Phi3ForCausalLM",
     .max_position = 4096,
     .norm_eps = 1e-5,
     .eos = {32000},
     .block = {.qkv = Qkv::stacked, .fused_gate_up = true},
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
     .windows = Windows::even_layers,
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
    {.model_type = "stablelm",
     .architecture = "StableLmForCausalLM",
     .kv_heads = 32,
     .max_position = 4096,
     .norm_eps = 1e-5,
     .eps_key = "layer_norm_eps",
     .block = {.layer_norm = true, .norm_bias = true},
     .biases = kUseQkvBias,
     .parallel_key = true,
     .rotated = 0.25},
    {.model_type = "starcoder2",
     .architecture = "Starcoder2ForCausalLM",
     .kv_heads = 2,
     .max_position = 4096,
     .norm_eps = 1e-5,
     .eps_key = "norm_epsilon",
     .tied = true,
     .bos = 50256,
     .eos = {50256},
     .block = {.layer_norm = true,
               .norm_bias = true,
               .activation = Activation::gelu_tanh,
               .gated = false},
     .biases = kUseBias,
     .windows = Windows::every_layer,
     .window = 0,
     .names = kStarcoder2Names},
};

/// Networks that people have and that this program cannot compute.
struct Unsupported {
  std::array<const char*, 4> model_types;
  const char* why;
};
constexpr Unsupported kUnsupported[] = {
    {{"deepseek_v2", "deepseek_v3", "deepseek_v32", "minicpm3"},
     "latent attention: the cache has one compressed row for all heads, from which keys and values "
     "are computed"},
    {{"bloom", "mpt"}, "scores that depend on distances (ALiBi) instead of rotated heads"},
    {{"mamba", "mamba2", "rwkv", "falcon_mamba"},
     "layers with a recurrent state instead of attention"},
    {{"qwen3_next", "jamba", "bamba", "falcon_h1"},
     "some layers with a recurrent state instead of attention"},
    {{"t5", "bart", "pegasus", "marian"}, "an encoder"}};

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

std::string why_unsupported(const std::string& model_type) {
  for (const Unsupported& row : kUnsupported)
    for (const char* one : row.model_types)
      if (one && model_type == one) return row.why;
  return "";
}

const char* Family::key(const char* usual) const {
  for (const KeyName& name : keys)
    if (name.own && std::string_view(usual) == name.usual) return name.own;
  return usual;
}

bool Family::has_usual(std::string_view name) const {
  return std::none_of(keys.begin(), keys.end(),
                      [&](const KeyName& key) { return !key.own && name == key.usual; });
}

std::string supported_families() {
  std::vector<std::string> names;
  for (const Family& row : kFamilies) names.push_back(row.model_type);
  return "supported are " + join(names, ", ") + " (see model list-families)";
}

}  // namespace pardec
