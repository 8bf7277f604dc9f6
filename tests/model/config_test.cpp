#include "src/model/files/config.hpp"

#include <cmath>
#include <fstream>

#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

Json llama() {
  return {{"model_type", "llama"},    {"architectures", {"LlamaForCausalLM"}},
          {"vocab_size", 100},        {"hidden_size", 48},
          {"intermediate_size", 64},  {"num_hidden_layers", 2},
          {"num_attention_heads", 4}, {"hidden_act", "silu"}};
}
Json qwen3() {
  Json json = llama();
  json["model_type"] = "qwen3";
  json["architectures"] = {"Qwen3ForCausalLM"};
  json["num_key_value_heads"] = 4;
  return json;
}
Json family(const char* type, const char* architecture) {
  Json json = llama();
  json["model_type"] = type;
  json["architectures"] = {architecture};
  return json;
}
Json with(Json json, const Json& changes) {
  json.update(changes);
  return json;
}
std::string error_of(const Json& json) {
  try {
    parse_model_config(json, "config.json");
  } catch (const ModelError& error) {
    return error.what();
  }
  return "no error";
}
void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("defaults are those of transformers' configuration classes") {
  const ModelConfig config = parse_model_config(llama(), "config.json");
  CHECK(config.kv_heads == 4);
  CHECK(config.head_dim == 12);
  CHECK(config.max_position == 2048);
  CHECK(config.norm_eps == 1e-6);
  CHECK(config.rope.theta == 10000.0);
  CHECK_FALSE((config.tied_head || config.block.attention_bias || config.block.mlp_bias));
  CHECK((!config.bos && config.eos.empty()));
  CHECK(config.block.qk_norm == QkNorm::none);
  CHECK(config.block.query_scalar == 12);
  const ModelConfig qwen = parse_model_config(qwen3(), "config.json");
  CHECK(qwen.head_dim == 128);
  CHECK(qwen.max_position == 32768);
  CHECK(qwen.block.qk_norm == QkNorm::heads);
}

TEST_CASE("families differ in defaults, biases, norms and windows") {
  const auto parsed = [](const Json& json) { return parse_model_config(json, "config.json"); };
  const auto names = [](const ModelConfig& config) {
    std::string all;
    for (const Parameter& p : parameters(config))
      if (p.name.starts_with("model.layers.1."))
        all += p.name.substr(15) + shape_text(p.shape) + "\n";
    return all;
  };

  const Json qwen2 = with(family("qwen2", "Qwen2ForCausalLM"), {{"num_key_value_heads", 4}});
  const ModelConfig qwen = parsed(with(qwen2, {{"sliding_window", 8}, {"max_window_layers", 1}}));
  CHECK(qwen.sliding_window == 0);  // since use_sliding_window is missing
  CHECK(qwen.max_position == 32768);
  CHECK_THAT(names(qwen), Catch::Contains("q_proj.bias[48]"));
  CHECK_THAT(names(qwen), !Catch::Contains("o_proj.bias"));
  CHECK(
      parsed(with(qwen2,
                  {{"use_sliding_window", true}, {"sliding_window", 8}, {"max_window_layers", 1}}))
          .slides == std::vector<bool>{false, true});

  const Json mistral = with(family("mistral", "MistralForCausalLM"), {{"num_key_value_heads", 2}});
  CHECK(parsed(mistral).sliding_window == 4096);
  CHECK(parsed(mistral).slides == std::vector<bool>{true, true});
  CHECK(parsed(with(mistral, {{"sliding_window", nullptr}})).sliding_window == 0);
  CHECK(parsed(with(mistral, {{"num_attention_heads", 12}, {"num_key_value_heads", nullptr}}))
            .kv_heads == 12);
  Json silent = with(mistral, {{"num_attention_heads", 16}, {"head_dim", 4}});
  silent.erase("num_key_value_heads");
  CHECK(parsed(silent).kv_heads == 8);
  CHECK(parsed(with(family("qwen2", "Qwen2ForCausalLM"),
                    {{"num_attention_heads", 64}, {"head_dim", 4}}))
            .kv_heads == 32);
  CHECK_THAT(error_of(with(mistral, {{"layer_types", {"full_attention", "sliding_attention"}}})),
             Catch::Contains("layers without the window, which mistral does not have"));

  const Json phi3 = family("phi3", "Phi3ForCausalLM");
  const ModelConfig phi = parsed(with(phi3, {{"partial_rotary_factor", 0.5}}));
  CHECK(phi.rope.dims == 6);
  CHECK(phi.norm_eps == 1e-5);
  CHECK(names(phi) ==
        "input_layernorm.weight[48]\nself_attn.qkv_proj.weight[144, "
        "48]\nself_attn.o_proj.weight[48, 48]\n"
        "post_attention_layernorm.weight[48]\nmlp.gate_up_proj.weight[128, "
        "48]\nmlp.down_proj.weight[48, 64]\n");
  CHECK(parsed(with(phi3, {{"sliding_window", 2047}})).sliding_window == 2047);
  const Json longrope = {
      {"type", "su"}, {"short_factor", {1, 1, 1, 2, 2, 2}}, {"long_factor", {1, 1, 1, 2, 2, 2}}};
  const ModelConfig stretched =
      parsed(with(phi3, {{"rope_scaling", longrope}, {"max_position_embeddings", 131072}}));
  CHECK(stretched.rope.type == RopeType::longrope);
  CHECK(stretched.positions() == 4096);
  CHECK_THAT(error_of(with(phi3, {{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}})),
             Catch::Contains("expected default or longrope for phi3"));
  CHECK_THAT(error_of(with(phi3, {{"partial_rotary_factor", 0.25}})),
             Catch::Contains("3 of 12 dimensions are rotated; expected an even number"));

  const ModelConfig olmo =
      parsed(with(family("olmo2", "Olmo2ForCausalLM"), {{"num_key_value_heads", 2}}));
  CHECK(
      names(olmo) ==
      "self_attn.q_proj.weight[48, 48]\nself_attn.k_proj.weight[24, "
      "48]\nself_attn.v_proj.weight[24, 48]\n"
      "self_attn.o_proj.weight[48, 48]\nself_attn.q_norm.weight[48]\nself_attn.k_norm.weight[24]\n"
      "post_attention_layernorm.weight[48]\nmlp.gate_proj.weight[64, 48]\nmlp.up_proj.weight[64, "
      "48]\n"
      "mlp.down_proj.weight[48, 64]\npost_feedforward_layernorm.weight[48]\n");
}

TEST_CASE("Gemma 2 and 3: norms, scales, caps, windows by pattern, a rotary base by layer") {
  const auto parsed = [](const Json& json) { return parse_model_config(json, "config.json"); };
  const auto gemma = [](const char* type, const char* architecture) {
    Json json = with(family(type, architecture),
                     {{"num_hidden_layers", 7}, {"hidden_activation", "gelu_pytorch_tanh"}});
    json.erase("hidden_act");
    return json;
  };
  const Json second = gemma("gemma2", "Gemma2ForCausalLM");
  const ModelConfig two = parsed(second);
  CHECK(two.head_dim == 256);
  CHECK(two.kv_heads == 4);
  CHECK(two.max_position == 8192);
  CHECK((two.tied_head && two.block.norm_adds_one));
  CHECK((two.bos == 2 && two.eos == std::vector<Token>{1}));
  CHECK(two.block.norms == Norms::both);
  CHECK(two.block.activation == Activation::gelu_tanh);
  CHECK(two.block.embedding_scale == std::sqrt(48.0));
  CHECK(two.block.query_scalar == 256);
  CHECK((two.block.attention_cap == 50 && two.block.logit_cap == 30));
  CHECK(two.slides == std::vector<bool>{true, false, true, false, true, false, true});
  CHECK((two.window(0) == 4096 && two.window(1) == 0));
  CHECK((!two.sliding_rope && two.rope.theta == 1e4));
  const ModelConfig plain = parsed(with(second, {{"attn_logit_softcapping", nullptr},
                                                 {"final_logit_softcapping", nullptr},
                                                 {"query_pre_attn_scalar", 144}}));
  CHECK((plain.block.attention_cap == 0 && plain.block.logit_cap == 0));
  CHECK(plain.block.query_scalar == 144);
  std::string names;
  for (const Parameter& p : parameters(two))
    if (p.name.starts_with("model.layers.1.") && p.name.ends_with("norm.weight"))
      names += p.name.substr(15) + "\n";
  CHECK(names ==
        "input_layernorm.weight\npost_attention_layernorm.weight\n"
        "pre_feedforward_layernorm.weight\npost_feedforward_layernorm.weight\n");

  const Json third = gemma("gemma3_text", "Gemma3ForCausalLM");
  const ModelConfig three = parsed(third);
  CHECK(three.block.qk_norm == QkNorm::heads);
  CHECK((three.block.attention_cap == 0 && three.block.logit_cap == 0));
  CHECK(three.slides == std::vector<bool>{true, true, true, true, true, false, true});
  CHECK(three.rope.theta == 1e6);
  REQUIRE(three.sliding_rope);
  CHECK(three.sliding_rope->theta == 1e4);
  CHECK((three.rope_kind(0) == 1 && three.rope_kind(5) == 0));
  CHECK(parsed(with(third, {{"sliding_window_pattern", 3}})).slides[2] == false);
  const Json linear = {{"rope_type", "linear"}, {"factor", 8}};
  for (const Json& changes :
       {Json{{"rope_theta", 5e5}, {"rope_local_base_freq", 100}, {"rope_scaling", linear}},
        Json{{"rope_parameters",
              {{"full_attention", with(linear, {{"rope_theta", 5e5}})},
               {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 100}}}}}}}) {
    const ModelConfig scaled = parsed(with(third, changes));
    CHECK((scaled.rope.type == RopeType::linear && scaled.rope.factor == 8));
    CHECK(scaled.rope.theta == 5e5);
    CHECK(scaled.sliding_rope->type == RopeType::standard);
    CHECK(scaled.sliding_rope->theta == 100);
  }

  const std::tuple<Json, Json, const char*> refused[] = {
      {second, {{"hidden_activation", "gelu"}}, "supported is 'gelu_pytorch_tanh'"},
      {second, {{"sliding_window", nullptr}}, "'sliding_window' is null, expected a number"},
      {second, {{"attn_logit_softcapping", 0}}, "expected null, or a positive number"},
      {second, {{"query_pre_attn_scalar", nullptr}}, "'query_pre_attn_scalar' is null"},
      {second, {{"query_pre_attn_scalar", 0}}, "'query_pre_attn_scalar' is 0"},
      {second, {{"use_bidirectional_attention", true}}, "'use_bidirectional_attention' is true"},
      {third,
       {{"attn_logit_softcapping", 50.0}},
       "'attn_logit_softcapping' is 50.0, expected null"},
      {third, {{"sliding_window_pattern", 0}}, "'sliding_window_pattern' is 0"},
      {third, {{"rope_local_base_freq", -1}}, "'rope_local_base_freq' is -1"},
      {third, {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 2}}}}, "rope_type 'yarn'"},
      {third, {{"rope_parameters", {{"rope_type", "default"}}}}, "unknown key 'rope_type'"},
      {third, {{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}}, "expected 'rope_type'"},
  };
  for (const auto& [json, changes, said] : refused)
    CHECK_THAT(error_of(with(json, changes)), Catch::Contains(said));
}

TEST_CASE("Qwen3-MoE: which layers have experts, their weights and their defaults") {
  const auto parsed = [](const Json& json) { return parse_model_config(json, "config.json"); };
  const Json silent = family("qwen3_moe", "Qwen3MoeForCausalLM");
  const ModelConfig defaults = parsed(silent);
  CHECK(defaults.kv_heads == 4);
  CHECK(defaults.head_dim == 12);
  CHECK((defaults.experts.count == 128 && defaults.experts.used == 8));
  CHECK((defaults.experts.inner == 768 && !defaults.experts.normalised));
  CHECK(defaults.experts.layers == std::vector<bool>{true, true});
  CHECK(defaults.sliding_window == 0);
  const Json small = with(silent, {{"num_hidden_layers", 4},
                                   {"num_experts", 3},
                                   {"num_experts_per_tok", 2},
                                   {"moe_intermediate_size", 20},
                                   {"decoder_sparse_step", 2},
                                   {"mlp_only_layers", {3}}});
  const ModelConfig sparse = parsed(small);
  CHECK(sparse.experts.layers == std::vector<bool>{false, true, false, false});
  std::string names;
  for (const Parameter& p : parameters(sparse))
    if (p.name.starts_with("model.layers.1.mlp.") || p.name.starts_with("model.layers.2.mlp.gate"))
      names += p.name.substr(13) + shape_text(p.shape) + "\n";
  std::string want = "1.mlp.gate.weight[3, 48]\n";
  for (const char* expert : {"0", "1", "2"})
    for (const char* part :
         {"gate_proj.weight[20, 48]", "up_proj.weight[20, 48]", "down_proj.weight[48, 20]"})
      want += str("1.mlp.experts.", expert, ".", part, "\n");
  CHECK(names == want + "2.mlp.gate_proj.weight[64, 48]\n");
  CHECK(parsed(with(small, {{"num_experts", 0}})).experts.count == 0);
  Json second = small;  // as transformers 5 writes it
  second.erase("num_experts");
  CHECK(parsed(with(second, {{"num_local_experts", 7}})).experts.count == 7);
  CHECK(parsed(with(small, {{"use_sliding_window", true}, {"sliding_window", 8}})).slides ==
        std::vector<bool>{true, true, true, true});
  CHECK_THAT(error_of(with(small, {{"num_experts_per_tok", 4}})),
             Catch::Contains("'num_experts_per_tok' is 4, expected at most 'num_experts' (3)"));
  CHECK_THAT(error_of(with(small, {{"num_experts", 100000}})),
             Catch::Contains("'num_experts' is 100000 in each of 4 layers, which no network has"));
  CHECK_THAT(error_of(with(small, {{"decoder_sparse_step", 0}})),
             Catch::Contains("'decoder_sparse_step' is 0, expected a number from 1 on"));
}

TEST_CASE("Families with experts: names, shapes and defaults") {
  const auto parsed = [](const Json& json) { return parse_model_config(json, "config.json"); };
  const auto mlp_of = [](const ModelConfig& config) {
    std::string names;
    for (const Parameter& p : parameters(config))
      if (p.layer == 1 && p.role >= Role::gate_up && p.role <= Role::shared_down && p.expert < 1)
        names += p.name.substr(15) + shape_text(p.shape) + "\n";
    return names;
  };
  const ModelConfig mixtral =
      parsed(with(family("mixtral", "MixtralForCausalLM"), {{"num_key_value_heads", 2}}));
  CHECK((mixtral.experts.count == 8 && mixtral.experts.used == 2));
  CHECK((mixtral.experts.normalised && mixtral.rope.theta == 1e6));
  CHECK(mlp_of(mixtral) ==
        "block_sparse_moe.gate.weight[8, 48]\nblock_sparse_moe.experts.0.w1.weight[64, 48]\n"
        "block_sparse_moe.experts.0.w3.weight[64, 48]\n"
        "block_sparse_moe.experts.0.w2.weight[48, 64]\n");
  const ModelConfig olmoe = parsed(family("olmoe", "OlmoeForCausalLM"));
  CHECK((olmoe.experts.count == 64 && olmoe.experts.used == 8 && !olmoe.experts.normalised));
  CHECK((olmoe.experts.inner == 64 && olmoe.block.qk_norm == QkNorm::whole));
  CHECK_THAT(error_of(with(family("olmoe", "OlmoeForCausalLM"), {{"clip_qkv", 8.0}})),
             Catch::Contains("'clip_qkv' is 8.0, which is not supported; expected null"));
  const Json shared =
      with(family("qwen2_moe", "Qwen2MoeForCausalLM"), {{"num_experts", 4},
                                                        {"num_key_value_heads", 2},
                                                        {"moe_intermediate_size", 20},
                                                        {"shared_expert_intermediate_size", 28}});
  CHECK(parsed(shared).block.attention_bias);
  CHECK_FALSE((parsed(shared).block.output_bias ||
               parsed(with(shared, {{"qkv_bias", false}})).block.attention_bias));
  CHECK(mlp_of(parsed(shared)) ==
        "mlp.gate.weight[4, 48]\nmlp.experts.0.gate_proj.weight[20, 48]\n"
        "mlp.experts.0.up_proj.weight[20, 48]\nmlp.experts.0.down_proj.weight[48, 20]\n"
        "mlp.shared_expert_gate.weight[1, 48]\nmlp.shared_expert.gate_proj.weight[28, 48]\n"
        "mlp.shared_expert.up_proj.weight[28, 48]\nmlp.shared_expert.down_proj.weight[48, 28]\n");
  CHECK_THAT(error_of(with(shared, {{"shared_expert_intermediate_size", 0}})),
             Catch::Contains("'shared_expert_intermediate_size' is 0"));
}

TEST_CASE("gpt-oss: defaults, and experts in stacks") {
  const auto parsed = [](const Json& json) { return parse_model_config(json, "config.json"); };
  const Json oss =
      with(family("gpt_oss", "GptOssForCausalLM"),
           {{"num_key_value_heads", 2}, {"num_local_experts", 3}, {"num_experts_per_tok", 2}});
  const ModelConfig config = parsed(oss);
  CHECK((config.heads == 4 && config.head_dim == 64 && config.sliding_window == 128));
  CHECK(config.window(0) == 128);
  CHECK(config.window(1) == 0);
  CHECK((config.rope.type == RopeType::yarn && config.rope.theta == 150000));
  CHECK((config.rope.factor == 32 && config.rope.original_max_position == 4096));
  CHECK_FALSE(config.rope.truncate);
  CHECK((config.block.swiglu_limit == 7 && config.block.swiglu_slope == 1.702));
  CHECK((config.block.attention_bias && config.block.output_bias && config.block.sinks));
  CHECK(parsed(with(oss, {{"rope_parameters", {{"rope_type", "default"}}}})).rope.type ==
        RopeType::standard);
  CHECK_THAT(error_of(with(oss, {{"swiglu_limit", 0}})),
             Catch::Contains("'swiglu_limit' is 0, expected a positive number"));
  std::string stacks;
  for (const Parameter& p : parameters(config))
    if (p.layer == 1 && p.expert == 1) {
      stacks += str(p.name.substr(15), shape_text(p.shape), " in ", p.stack->name.substr(15),
                    shape_text(p.stack_shape()), " ", p.stack->first, " ", p.stack->step, "\n");
      CHECK(p.transposed != p.bias);
    }
  CHECK(stacks ==
        "mlp.experts.1.gate_proj.weight[64, 48] in mlp.experts.gate_up_proj[3, 48, 128] 0 2\n"
        "mlp.experts.1.gate_proj.bias[64] in mlp.experts.gate_up_proj_bias[3, 128] 0 2\n"
        "mlp.experts.1.up_proj.weight[64, 48] in mlp.experts.gate_up_proj[3, 48, 128] 1 2\n"
        "mlp.experts.1.up_proj.bias[64] in mlp.experts.gate_up_proj_bias[3, 128] 1 2\n"
        "mlp.experts.1.down_proj.weight[48, 64] in mlp.experts.down_proj[3, 64, 48] 0 1\n"
        "mlp.experts.1.down_proj.bias[48] in mlp.experts.down_proj_bias[3, 48] 0 1\n");
}

TEST_CASE("Granite's multipliers, SmolLM3's layers without rotation, GLM's rotated share") {
  const auto parsed = [](const Json& json) { return parse_model_config(json, "config.json"); };
  const Json granite =
      with(family("granite", "GraniteForCausalLM"), {{"embedding_multiplier", 12},
                                                     {"residual_multiplier", 0.22},
                                                     {"attention_multiplier", 0.125},
                                                     {"logits_scaling", 8}});
  const BlockSpec block = parsed(granite).block;
  CHECK((block.embedding_scale == 12 && block.residual_scale == 0.22));
  CHECK((block.query_scalar == 64 && block.logit_divisor == 8));
  CHECK_THAT(error_of(with(granite, {{"logits_scaling", 0}})),
             Catch::Contains("'logits_scaling' is 0, expected a positive number"));

  const Json smollm = with(family("smollm3", "SmolLM3ForCausalLM"), {{"num_hidden_layers", 5}});
  CHECK(parsed(smollm).unrotated == std::vector<bool>{false, false, false, true, false});
  CHECK((parsed(smollm).rope_kind(2) == 0 && parsed(smollm).rope_kind(3) == 1));
  CHECK(parsed(smollm).ropes().back().type == RopeType::still);
  CHECK(parsed(with(smollm, {{"no_rope_layers", {1, 0, 1, 1, 1, 1}}})).unrotated ==
        std::vector<bool>{false, true, false, false, false});
  CHECK(parsed(with(smollm, {{"no_rope_layers", {1, 1, 1, 1, 1}}})).unrotated.empty());
  CHECK_THAT(error_of(with(smollm, {{"no_rope_layers", {1, 0}}})),
             Catch::Contains("'no_rope_layers' has 2 entries, expected one for each of 5 layers"));
  CHECK_THAT(error_of(with(smollm, {{"no_rope_layer_interval", 0}})),
             Catch::Contains("'no_rope_layer_interval' is 0"));

  const Json glm = with(family("glm4", "Glm4ForCausalLM"), {{"head_dim", 32}});
  CHECK((parsed(glm).rope.dims == 16 && parsed(glm).block.neighbours_turn));
  CHECK(parsed(with(glm, {{"partial_rotary_factor", 0.25}})).rope.dims == 8);
  CHECK(parsed(with(glm, {{"vocab_size", 151552}})).eos ==
        std::vector<Token>{151329, 151336, 151338});
  const Json intern = family("internlm3", "InternLM3ForCausalLM");
  CHECK(parsed(with(intern, {{"architectures", {"LlamaForCausalLM"}}})).kv_heads == 2);
  CHECK(parsed(with(intern, {{"qkv_bias", true}})).block.attention_bias);
}

TEST_CASE("Layer norms, MLPs without a gate, sublayers in parallel: names, shapes and options") {
  const auto parsed = [](const Json& json) { return parse_model_config(json, "config.json"); };
  const auto layer_of = [](const ModelConfig& config) {
    std::string names;
    for (const Parameter& p : parameters(config))
      if (p.layer != 0) names += p.name + shape_text(p.shape) + "\n";
    return names;
  };
  const Json phi = with(family("phi", "PhiForCausalLM"),
                        {{"num_hidden_layers", 1}, {"head_dim", 8}, {"hidden_act", "gelu_new"}});
  CHECK(layer_of(parsed(phi)) ==
        "model.embed_tokens.weight[100, 48]\nmodel.final_layernorm.weight[48]\n"
        "model.final_layernorm.bias[48]\nlm_head.weight[100, 48]\nlm_head.bias[100]\n");
  std::string names;
  for (const Parameter& p : parameters(parsed(phi)))
    if (p.layer == 0 && p.bias) names += p.name.substr(15) + " ";
  CHECK(names ==
        "input_layernorm.bias self_attn.q_proj.bias self_attn.k_proj.bias self_attn.v_proj.bias "
        "self_attn.dense.bias mlp.fc1.bias mlp.fc2.bias ");
  CHECK_THAT(error_of(with(phi, {{"qk_layernorm", true}})),
             Catch::Contains("'qk_layernorm' is true, which is not supported; expected false"));
  CHECK_THAT(error_of(with(phi, {{"layer_norm_eps", -1}})),
             Catch::Contains("'layer_norm_eps' is -1"));

  const Json stable = with(family("stablelm", "StableLmForCausalLM"),
                           {{"num_key_value_heads", 4}, {"head_dim", 16}});
  CHECK_FALSE(parsed(stable).block.parallel);
  CHECK(parsed(with(stable, {{"use_parallel_residual", true}})).block.parallel);
  CHECK(parsed(stable).rope.dims == 4);

  const Json cohere = with(family("cohere2", "Cohere2ForCausalLM"), {{"num_hidden_layers", 5}});
  CHECK(parsed(cohere).slides == std::vector<bool>{true, true, true, false, true});
  CHECK(parsed(cohere).unrotated == std::vector<bool>{false, false, false, true, false});
  CHECK((parsed(cohere).block.logit_divisor == 16 && parsed(cohere).sliding_window == 4096));
  CHECK_THAT(error_of(with(cohere, {{"logit_scale", 0}})),
             Catch::Contains("'logit_scale' is 0, expected a positive number"));
  CHECK_THAT(error_of(with(cohere, {{"logit_scale", nullptr}})),
             Catch::Contains("'logit_scale' is null"));

  const Json moe = with(family("qwen2_moe", "Qwen2MoeForCausalLM"), {{"num_key_value_heads", 2},
                                                                     {"num_hidden_layers", 5},
                                                                     {"use_sliding_window", true},
                                                                     {"sliding_window", 9},
                                                                     {"max_window_layers", 3}});
  CHECK(parsed(moe).slides == std::vector<bool>{true, false, true, false, false});
}

TEST_CASE("GPT-2, GPT-NeoX, Falcon, InternLM2, MiniCPM: names, shapes, own keys") {
  const auto parsed = [](const Json& json) { return parse_model_config(json, "config.json"); };
  const auto layer_of = [](const ModelConfig& config) {
    std::string names;
    for (const Parameter& p : parameters(config))
      if (p.layer == 1 && !p.bias) names += p.name + shape_text(p.stored_shape()) + "\n";
    return names;
  };
  const Json gpt2{{"model_type", "gpt2"}, {"architectures", {"GPT2LMHeadModel"}},
                  {"vocab_size", 100},    {"n_embd", 48},
                  {"n_layer", 2},         {"n_head", 4},
                  {"n_positions", 30},    {"n_inner", nullptr}};
  const ModelConfig learned = parsed(gpt2);
  CHECK(layer_of(learned) ==
        "transformer.h.1.ln_1.weight[48]\ntransformer.h.1.attn.c_attn.weight[48, 144]\n"
        "transformer.h.1.attn.c_proj.weight[48, 48]\ntransformer.h.1.ln_2.weight[48]\n"
        "transformer.h.1.mlp.c_fc.weight[48, 192]\ntransformer.h.1.mlp.c_proj.weight[192, 48]\n");
  CHECK(parameters(learned)[1].name == "transformer.wpe.weight");
  CHECK(parameters(learned)[1].shape == std::vector<std::int64_t>{30, 48});
  CHECK((learned.positions() == 30 && learned.positions_key() == "n_positions"));
  CHECK((learned.tied_head && learned.rope.type == RopeType::still));
  CHECK_THAT(error_of(with(gpt2, {{"n_head", 0}})),
             Catch::Contains("'n_head' is 0, expected a positive number"));
  CHECK_THAT(error_of(with(gpt2, {{"n_head", 5}})),
             Catch::Contains("'n_embd' is 48, expected a multiple of 'n_head' (5)"));
  CHECK_THAT(error_of(with(gpt2, {{"scale_attn_weights", false}})),
             Catch::Contains("'scale_attn_weights' is false, which is not supported"));
  CHECK_THAT(error_of(with(gpt2, {{"scale_attn_weights", nullptr}})),
             Catch::Contains("'scale_attn_weights' is null, which is not supported"));
  CHECK_THAT(error_of(with(gpt2, {{"hidden_size", 64}})),
             Catch::Contains("has n_embd 48 and hidden_size 64, expected one value"));
  CHECK(parsed(with(gpt2, {{"hidden_size", 48}})).hidden_size == 48);
  CHECK(parsed(with(gpt2, {{"n_embd", nullptr}, {"hidden_size", 64}})).hidden_size == 64);
  Json usual = gpt2;
  usual.erase("n_embd");
  CHECK_THAT(error_of(usual), Catch::Contains("'n_embd' or 'hidden_size' is missing"));
  CHECK(parsed(with(usual, {{"hidden_size", 64}})).hidden_size == 64);

  const Json neox = with(family("gpt_neox", "GPTNeoXForCausalLM"),
                         {{"hidden_act", "gelu"}, {"hidden_size", 64}, {"rotary_emb_base", 500}});
  CHECK(layer_of(parsed(neox)) ==
        "gpt_neox.layers.1.input_layernorm.weight[64]\n"
        "gpt_neox.layers.1.attention.query_key_value.weight[192, 64]\n"
        "gpt_neox.layers.1.attention.dense.weight[64, 64]\n"
        "gpt_neox.layers.1.post_attention_layernorm.weight[64]\n"
        "gpt_neox.layers.1.mlp.dense_h_to_4h.weight[64, 64]\n"
        "gpt_neox.layers.1.mlp.dense_4h_to_h.weight[64, 64]\n");
  CHECK((parsed(neox).rope.dims == 4 && parsed(neox).rope.theta == 500));
  CHECK((parsed(neox).block.parallel && parsed(neox).block.attention_bias));
  CHECK(parsed(neox).block.activation == Activation::gelu);
  CHECK(parsed(with(neox, {{"hidden_act", "gelu_fast"}})).block.activation ==
        Activation::gelu_tanh);
  CHECK_THAT(error_of(with(neox, {{"hidden_act", "relu"}})),
             Catch::Contains("'hidden_act' is 'relu'; supported is 'gelu' or"));
  CHECK_THAT(error_of(with(neox, {{"rotary_pct", 2}})), Catch::Contains("'rotary_pct' is 2"));
  for (const char* key : {"attention_bias", "use_parallel_residual"})
    CHECK_THAT(error_of(with(neox, {{key, nullptr}})),
               Catch::Contains(std::string("'") + key + "' is null, expected a value"));

  Json falcon = family("falcon", "FalconForCausalLM");
  falcon.erase("intermediate_size"), falcon.erase("hidden_act");
  CHECK((parsed(falcon).kv_heads == 1 && parsed(falcon).intermediate_size == 192));
  CHECK(parsed(with(falcon, {{"multi_query", false}})).kv_heads == 4);
  CHECK(layer_of(parsed(falcon)) ==
        "transformer.h.1.input_layernorm.weight[48]\n"
        "transformer.h.1.self_attention.query_key_value.weight[72, 48]\n"
        "transformer.h.1.self_attention.dense.weight[48, 48]\n"
        "transformer.h.1.mlp.dense_h_to_4h.weight[192, 48]\n"
        "transformer.h.1.mlp.dense_4h_to_h.weight[48, 192]\n");
  const Json newer = with(falcon, {{"new_decoder_architecture", true}, {"num_kv_heads", 2}});
  CHECK((parsed(newer).kv_heads == 2 && parsed(newer).block.two_norms));
  CHECK_THAT(layer_of(parsed(newer)), Catch::Contains("h.1.ln_attn.weight[48]\n") &&
                                          Catch::Contains("h.1.ln_mlp.weight[48]\n") &&
                                          !Catch::Contains("input_layernorm"));
  CHECK_FALSE(parsed(with(newer, {{"num_ln_in_parallel_attn", 1}})).block.two_norms);
  CHECK_FALSE(parsed(with(falcon, {{"parallel_attn", false}})).block.parallel);
  CHECK_FALSE(parsed(with(falcon, {{"parallel_attn", nullptr}})).block.parallel);
  CHECK(parsed(with(falcon, {{"multi_query", nullptr}})).kv_heads == 4);
  CHECK_THAT(error_of(with(falcon, {{"alibi", true}})),
             Catch::Contains("'alibi' is true, which is not supported; expected false"));
  CHECK_THAT(error_of(with(falcon, {{"num_ln_in_parallel_attn", 2}})),
             Catch::Contains("'num_ln_in_parallel_attn' is 2, expected 1"));
  CHECK_THAT(error_of(with(newer, {{"parallel_attn", false}})),
             Catch::Contains("'parallel_attn' is false"));
  CHECK_THAT(error_of(with(newer, {{"num_kv_heads", 3}})),
             Catch::Contains("expected a multiple of 'num_kv_heads' (3)"));

  const ModelConfig intern =
      parsed(with(family("internlm2", "InternLM2ForCausalLM"), {{"num_key_value_heads", 2}}));
  CHECK((intern.block.attention_bias && intern.block.output_bias && !intern.block.mlp_bias));
  CHECK_THAT(layer_of(intern), Catch::Contains("model.layers.1.attention.wqkv.weight[96, 48]\n"));

  const Json mini = with(
      family("minicpm", "MiniCPMForCausalLM"),
      {{"num_hidden_layers", 4}, {"scale_emb", 12}, {"scale_depth", 1.5}, {"dim_model_base", 8}});
  CHECK(parsed(mini).block.embedding_scale == 12);
  CHECK(parsed(mini).block.residual_scale == 0.75);
  CHECK(parsed(mini).block.logit_divisor == 6);
  CHECK_THAT(error_of(with(mini, {{"num_experts", 8}})),
             Catch::Contains("'num_experts' is 8, which is not supported"));
}

TEST_CASE("both forms of the rotary base are read") {
  CHECK(parse_model_config(with(llama(), {{"rope_theta", 5e5}, {"rope_scaling", nullptr}}), "c")
            .rope.theta == 5e5);
  CHECK(parse_model_config(
            with(llama(), {{"rope_theta", 5e5}, {"rope_scaling", {{"rope_type", "default"}}}}), "c")
            .rope.theta == 5e5);
  CHECK(parse_model_config(with(llama(), {{"rope_parameters",
                                           {{"rope_theta", 1000000}, {"rope_type", "default"}}}}),
                           "c")
            .rope.theta == 1e6);
}

TEST_CASE("an unsupported setting is an error that names it and what is supported") {
  CHECK(error_of(with(llama(), {{"model_type", "opt"}, {"architectures", {"OPTForCausalLM"}}})) ==
        "config.json: model_type 'opt' is not supported; supported are cohere, cohere2, ernie4_5, "
        "falcon, gemma2, gemma3_text, glm, glm4, gpt2, gpt_neox, gpt_oss, granite, internlm2, "
        "internlm3, "
        "llama, minicpm, mistral, mixtral, olmo2, olmoe, phi, phi3, qwen2, qwen2_moe, qwen3, "
        "qwen3_moe, smollm3, stablelm, starcoder2 (see model list-families)");
  CHECK_THAT(error_of(with(llama(), {{"model_type", "deepseek_v3"},
                                     {"architectures", {"DeepseekV3ForCausalLM"}}})),
             Catch::Contains("model_type 'deepseek_v3' is not supported: it has latent attention: "
                             "the cache has one compressed row for all heads"));
  CHECK_THAT(error_of(with(llama(), {{"architectures", {"LlamaForSequenceClassification"}}})),
             Catch::Contains("expected LlamaForCausalLM"));
  Json nameless = llama();
  nameless.erase("model_type");
  CHECK(parse_model_config(nameless, "c").family->model_type == std::string("llama"));
  nameless["architectures"] = {"DbrxForCausalLM"};
  CHECK_THAT(error_of(nameless),
             Catch::Contains("architecture 'DbrxForCausalLM' is not supported; supported are"));
  CHECK_THAT(error_of(with(llama(), {{"hidden_act", "gelu"}})),
             Catch::Contains("'hidden_act' is 'gelu'; supported is 'silu'"));
  CHECK_THAT(error_of(with(llama(), {{"use_sliding_window", true}})),
             Catch::Contains("'use_sliding_window' is true, which is not supported for llama"));
  CHECK_THAT(error_of(with(llama(), {{"quantization_config", {{"bits", 4}}}})),
             Catch::Contains("'quant_method' is null, which is not supported; supported are awq"));
  CHECK_THAT(error_of(with(llama(), {{"partial_rotary_factor", 0.5}})),
             Catch::Contains("partial_rotary_factor"));
}

TEST_CASE("impossible sizes are refused") {
  CHECK(error_of(with(llama(), {{"vocab_size", 0}})) ==
        "config.json: 'vocab_size' is 0, expected a positive number");
  CHECK_THAT(error_of(with(llama(), {{"vocab_size", "many"}})),
             Catch::Contains("'vocab_size' is \"many\", expected a whole number"));
  CHECK_THAT(error_of(with(llama(), {{"num_hidden_layers", 2000000000}})),
             Catch::Contains("no network has"));
  CHECK_THAT(error_of(with(llama(), {{"num_attention_heads", 0}})),
             Catch::Contains("'num_attention_heads' is 0"));
  CHECK_THAT(error_of(with(llama(), {{"num_attention_heads", -4}})),
             Catch::Contains("'num_attention_heads' is -4"));
  CHECK_THAT(error_of(with(llama(), {{"num_key_value_heads", 3}})),
             Catch::Contains("expected a multiple of 'num_key_value_heads' (3)"));
  CHECK_THAT(error_of(with(llama(), {{"head_dim", 7}})),
             Catch::Contains("'head_dim' is 7, expected an even number"));
  CHECK_THAT(error_of(with(llama(), {{"hidden_size", 50}})),
             Catch::Contains("'hidden_size' is 50, expected a multiple of"));
  CHECK_THAT(error_of(with(llama(), {{"rope_theta", -1.0}})),
             Catch::Contains("'rope_theta' is -1"));
  CHECK(parse_model_config(with(llama(), {{"eos_token_id", {1, 100, -1}}}), "c").eos ==
        std::vector<Token>{1});  // as in transformers, where no network chooses the others
  CHECK_FALSE(parse_model_config(with(llama(), {{"bos_token_id", -1}}), "c").bos);
  CHECK_THAT(error_of(with(llama(), {{"eos_token_id", "</s>"}})),
             Catch::Contains("expected an id or a list of ids"));
  Json missing = llama();
  missing.erase("hidden_size");
  CHECK(error_of(missing) == "config.json: 'hidden_size' is missing");
  CHECK_THAT(error_of(Json::array()), Catch::Contains("config.json: is array, expected an object"));
}

TEST_CASE("generation_config.json decides which ids end an answer") {
  const test::TemporaryFolder folder;
  write(folder.path() / "config.json",
        dump(with(llama(), {{"eos_token_id", 2}, {"bos_token_id", 1}})));
  CHECK(read_model_config(folder.path()).eos == std::vector<Token>{2});
  write(folder.path() / "generation_config.json", R"({"eos_token_id": [5, 6]})");
  const ModelConfig config = read_model_config(folder.path());
  CHECK(config.eos == std::vector<Token>{5, 6});
  CHECK(config.bos == 1);
  write(folder.path() / "generation_config.json", R"({"eos_token_id": 500})");
  CHECK(read_model_config(folder.path()).eos.empty());
  write(folder.path() / "config.json", "{\n\"a\": }");
  CHECK_THROWS_WITH(read_model_config(folder.path()),
                    Catch::Contains("config.json: line 2: is not valid JSON"));
}

TEST_CASE("Phi-3 and OLMo-2 have an end of sequence if config.json names none") {
  for (const auto& [type, name, id] : {std::tuple{"phi3", "Phi3ForCausalLM", 32000},
                                       std::tuple{"olmo2", "Olmo2ForCausalLM", 50279}}) {
    const Json silent = with(family(type, name), {{"vocab_size", id + 1}});
    CAPTURE(type);
    CHECK(parse_model_config(silent, "config.json").eos == std::vector<Token>{id});
    CHECK(parse_model_config(with(silent, {{"eos_token_id", 5}}), "config.json").eos ==
          std::vector<Token>{5});
    CHECK(parse_model_config(with(silent, {{"eos_token_id", nullptr}}), "config.json").eos.empty());
    CHECK(parse_model_config(with(silent, {{"vocab_size", id}}), "config.json").eos.empty());
  }
}

TEST_CASE("a folder that is not a checkpoint: the error says what is missing") {
  const test::TemporaryFolder folder;
  CHECK_THROWS_WITH(
      read_model_config(folder.path() / "none"),
      Catch::EndsWith(
          "none: does not exist, expected a Hugging Face checkpoint folder or a GGUF file"));
  CHECK_THROWS_WITH(read_model_config(folder.path()), Catch::Contains("has no config.json"));
  write(folder.path() / "file", "x");
  CHECK_THROWS_WITH(read_model_config(folder.path() / "file"), Catch::Contains("is not a folder"));
  CHECK_THROWS_AS(read_model_config(folder.path()), ModelError);
}

TEST_CASE("the parameters of a shape are those of the family") {
  // By hand: embedding and head 2 * 100 * 48; a layer: q and o 48 * 48, k and v 24 * 48 (2 heads of
  // 12), norms 96, mlp 3 * 48 * 64.
  const std::int64_t layer = 2 * 48 * 48 + 2 * 24 * 48 + 96 + 3 * 48 * 64;
  const Json json = with(llama(), {{"num_key_value_heads", 2}});
  CHECK(parameter_count(parse_model_config(json, "c")) == 2 * 100 * 48 + 2 * layer + 48);
  CHECK(parameter_count(parse_model_config(with(json, {{"tie_word_embeddings", true}}), "c")) ==
        100 * 48 + 2 * layer + 48);
  const Json biased = with(json, {{"attention_bias", true}, {"mlp_bias", true}});
  CHECK(parameter_count(parse_model_config(biased, "c")) ==
        2 * 100 * 48 + 2 * (layer + 48 + 24 + 24 + 48 + 64 + 64 + 48) + 48);
}

namespace {

Rope rope_of(const Json& rope, const char* key = "rope_scaling") {
  return parse_model_config(with(llama(), {{key, rope}, {"rope_theta", 5e5}}), "c").rope;
}
std::string rope_error(const Json& rope) {
  return error_of(with(llama(), {{"rope_scaling", rope}}));
}

}  // namespace

TEST_CASE("RoPE scaling is read in both forms, with transformers' defaults") {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    CHECK(rope_of({{"type", "linear"}, {"factor", 4}}, key).factor == 4.0);
    const Rope yarn = rope_of({{"rope_type", "yarn"}, {"factor", 4.0}, {"rope_theta", 100}}, key);
    CHECK(yarn.type == RopeType::yarn);
    CHECK(yarn.theta == 100);
    CHECK(yarn.original_max_position == 2048);
    CHECK(yarn.attention_factor == Approx(0.1 * std::log(4.0) + 1));
    CHECK((yarn.beta_fast == 32 && yarn.beta_slow == 1 && yarn.truncate));
  }
  CHECK(rope_of({{"rope_type", "yarn"}, {"factor", 4.0}, {"truncate", false}}).truncate == false);
  const Rope deepseek = rope_of({{"rope_type", "yarn"},
                                 {"factor", nullptr},
                                 {"original_max_position_embeddings", 256},
                                 {"mscale", 0.7},
                                 {"mscale_all_dim", 1.0}});
  CHECK(deepseek.factor == 8.0);
  CHECK(deepseek.attention_factor ==
        Approx((0.07 * std::log(8.0) + 1) / (0.1 * std::log(8.0) + 1)));
  const Json both = with(llama(), {{"rope_scaling", {{"type", "linear"}, {"factor", 2}}},
                                   {"rope_parameters", {{"rope_type", "default"}}}});
  CHECK(parse_model_config(both, "c").rope.type == RopeType::linear);
  const Json outside = with(llama(), {{"original_max_position_embeddings", 512},
                                      {"rope_scaling",
                                       {{"type", "longrope"},
                                        {"short_factor", Json::array({1, 1, 1, 1.5, 2, 2})},
                                        {"original_max_position_embeddings", 1024}}}});
  const ModelConfig config = parse_model_config(outside, "c");
  CHECK(config.rope.original_max_position == 512);
  CHECK(config.rope.factor == 4.0);
  CHECK(config.rope.attention_factor == Approx(std::sqrt(1 + std::log(4.0) / std::log(512.0))));
  CHECK(config.positions() == 512);
  CHECK_THAT(config.positions_key(), Catch::StartsWith("original_max_position_embeddings"));
}

TEST_CASE("an unknown or impossible RoPE scaling is an error that names it") {
  CHECK(rope_error({{"rope_type", "spiral"}}) ==
        "config.json: 'rope_scaling' has rope_type 'spiral', which is not supported; supported "
        "are default, linear, dynamic, yarn, longrope, llama3");
  CHECK_THAT(rope_error({{"type", "linear"}}),
             Catch::Contains("factor") && Catch::Contains("is missing"));
  CHECK_THAT(rope_error({{"type", "dynamic"}, {"factor", -1}}), Catch::Contains("'factor' is -1"));
  CHECK_THAT(rope_error({{"type", "yarn"}, {"factor", 2}, {"beta_fats", 2}}),
             Catch::Contains("unknown key 'beta_fats'"));
  CHECK_THAT(rope_error({{"type", "yarn"}}), Catch::Contains("factor"));
  CHECK_THAT(rope_error({{"type", "longrope"}, {"short_factor", {1.0, 2.0}}}),
             Catch::Contains("'short_factor' has 2 numbers, expected head_dim / 2 (6)"));
  CHECK_THAT(
      rope_error(
          {{"type", "llama3"}, {"factor", 8}, {"low_freq_factor", 4}, {"high_freq_factor", 1}}),
      Catch::Contains("'high_freq_factor' is 1, expected more than"));
  CHECK_THAT(rope_error({{"type", "default"}, {"partial_rotary_factor", 0.5}}),
             Catch::Contains("partial_rotary_factor"));
}

TEST_CASE("keys that would describe another network are refused by name") {
  const Json others = {{"is_encoder_decoder", true},
                       {"is_causal", false},
                       {"attention_chunk_size", 64},
                       {"per_layer_config", {{"0", {{"rms_norm_eps", 1.0}}}}},
                       {"kv_sharing_modes", {"reuse", "own"}},
                       {"text_config", {{"hidden_size", 8}}}};
  for (const auto& [key, value] : others.items())
    CHECK_THAT(error_of(with(llama(), {{key, value}})),
               Catch::Contains("'" + key + "' is ") && Catch::Contains("not supported; expected"));
  CHECK(parse_model_config(with(llama(), {{"is_encoder_decoder", false},
                                          {"is_causal", true},
                                          {"attention_chunk_size", nullptr},
                                          {"per_layer_config", Json::object()},
                                          {"hidden_act", "swish"}}),
                           "c")
            .layers == 2);
  for (const char* key : {"hidden_act", "max_position_embeddings", "rms_norm_eps", "rope_theta"})
    CHECK_THAT(error_of(with(llama(), {{key, nullptr}})),
               Catch::Contains(std::string("'") + key + "' is null, expected a value"));
  CHECK_THAT(error_of(with(llama(), {{"bos_token_id", {1, 2}}})),
             Catch::Contains("'bos_token_id' is [1,2], expected one id"));
  CHECK_THAT(rope_error({{"full_attention", {{"rope_type", "default"}}}}),
             Catch::Contains("has options of 'full_attention' only"));
  CHECK_THAT(rope_error({{"rope_type", "default"}, {"rope_theta", nullptr}}),
             Catch::Contains("'rope_theta' is null"));
  CHECK_THAT(
      rope_error(
          {{"rope_type", "yarn"}, {"factor", 2}, {"original_max_position_embeddings", nullptr}}),
      Catch::Contains("'original_max_position_embeddings' is null"));
  for (const int window : {1, 0, -3})
    CHECK_THAT(
        error_of(with(family("mistral", "MistralForCausalLM"),
                      {{"num_key_value_heads", 2}, {"sliding_window", window}})),
        Catch::Contains(str("'sliding_window' is ", window, ", expected 2 or more, or null")));
  CHECK_THAT(error_of(with(llama(), {{"sliding_window", "8"}})),
             Catch::Contains("'sliding_window' is \"8\", expected a whole number"));
}

TEST_CASE("a sliding window is read in Qwen3's form, layer by layer") {
  CHECK(parse_model_config(qwen3(), "c").sliding_window == 0);
  const auto windowed = [](const Json& changes) {
    return parse_model_config(with(with(qwen3(), {{"use_sliding_window", true}}), changes), "c");
  };
  CHECK(windowed(Json::object()).slides.empty());  // max_window_layers is 28
  const ModelConfig config = windowed({{"max_window_layers", 1}});
  CHECK(config.sliding_window == 4096);
  CHECK(config.slides == std::vector<bool>{false, true});
  const Json types = {"sliding_attention", "full_attention"};
  CHECK(windowed({{"layer_types", types}, {"sliding_window", 7}}).slides ==
        std::vector<bool>{true, false});
  CHECK(windowed({{"max_window_layers", 0}, {"sliding_window", nullptr}}).slides.empty());
  CHECK_THAT(error_of(with(qwen3(), {{"layer_types", types}})),
             Catch::Contains("'use_sliding_window'"));
  CHECK_THAT(error_of(with(qwen3(), {{"layer_types", {"full_attention"}}})),
             Catch::Contains("has 1 entries, expected one for each of 2 layers"));
  CHECK_THAT(error_of(with(qwen3(), {{"layer_types", {"full_attention", "chunked_attention"}}})),
             Catch::Contains("'chunked_attention'"));
  CHECK_THAT(error_of(with(qwen3(), {{"use_sliding_window", true}, {"sliding_window", -3}})),
             Catch::Contains("'sliding_window' is -3"));
}
