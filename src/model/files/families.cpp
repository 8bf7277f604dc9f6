#include "src/model/files/families.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr Family kFamilies[] = {
    {.model_type = "gemma2",
     .architecture = "Gemma2ForCausalLM",
     .head_dim = 256,
     .kv_heads = 4,
     .max_position = 8192,
     .tied = true,
     .bos = 2,
     .eos = 1,
     .block = {.norms = Norms::both,
               .norm_adds_one = true,
               .activation = Activation::gelu_tanh,
               .query_scalar = 256,
               .attention_cap = 50,
               .logit_cap = 30},
     .attention_bias = true,
     .activation_key = "hidden_activation",
     .query_scalar = true,
     .attention_cap = true,
     .logit_cap = true,
     .scaled_embedding = true,
     .bidirectional_key = true,
     .windows = Windows::all_but_nth,
     .window_pattern = 2},
    {.model_type = "gemma3_text",
     .architecture = "Gemma3ForCausalLM",
     .head_dim = 256,
     .kv_heads = 4,
     .max_position = 131072,
     .tied = true,
     .bos = 2,
     .eos = 1,
     .block = {.norms = Norms::both,
               .qk_norm = QkNorm::heads,
               .norm_adds_one = true,
               .activation = Activation::gelu_tanh,
               .query_scalar = 256},
     .attention_bias = true,
     .activation_key = "hidden_activation",
     .query_scalar = true,
     .logit_cap = true,
     .scaled_embedding = true,
     .bidirectional_key = true,
     .windows = Windows::all_but_nth,
     .window_pattern = 6,
     .pattern_key = "sliding_window_pattern",
     .rope = RopeForm::by_layer},
    {.model_type = "llama",
     .architecture = "LlamaForCausalLM",
     .attention_bias = true,
     .mlp_bias = true},
    {.model_type = "mistral",
     .architecture = "MistralForCausalLM",
     .kv_heads = 8,
     .max_position = 131072,
     .windows = Windows::every_layer},
    {.model_type = "olmo2",
     .architecture = "Olmo2ForCausalLM",
     .rms_norm_eps = 1e-5,
     .eos = 50279,
     .block = {.norms = Norms::after, .qk_norm = QkNorm::whole},
     .attention_bias = true},
    {.model_type = "phi3",
     .architecture = "Phi3ForCausalLM",
     .max_position = 4096,
     .rms_norm_eps = 1e-5,
     .eos = 32000,
     .block = {.fused = true},
     .windows = Windows::every_layer,
     .window = 0,
     .rope = RopeForm::phi3},
    {.model_type = "qwen2",
     .architecture = "Qwen2ForCausalLM",
     .kv_heads = 32,
     .max_position = 32768,
     .block = {.attention_bias = true},
     .windows = Windows::later_layers},
    {.model_type = "qwen3",
     .architecture = "Qwen3ForCausalLM",
     .head_dim = 128,
     .kv_heads = 32,
     .max_position = 32768,
     .block = {.qk_norm = QkNorm::heads},
     .attention_bias = true,
     .windows = Windows::later_layers},
    {.model_type = "qwen3_moe",
     .architecture = "Qwen3MoeForCausalLM",
     .kv_heads = 4,
     .max_position = 32768,
     .block = {.qk_norm = QkNorm::heads},
     .attention_bias = true,
     .windows = Windows::if_used,
     .experts = 128},
};

const Family* found(auto&& fits) {
  const auto row = std::find_if(std::begin(kFamilies), std::end(kFamilies), fits);
  return row == std::end(kFamilies) ? nullptr : row;
}

}  // namespace

const Family* find_family(const std::string& model_type) {
  return found([&](const Family& row) { return model_type == row.model_type; });
}

const Family* find_architecture(const std::string& architecture) {
  return found([&](const Family& row) { return architecture == row.architecture; });
}

std::string supported_families() {
  std::vector<std::string> names;
  for (const Family& row : kFamilies)
    names.push_back(str(row.model_type, " (", row.architecture, ")"));
  return "supported are " + join(names, ", ");
}

}  // namespace pardec
