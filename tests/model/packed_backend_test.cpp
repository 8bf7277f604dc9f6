// Loaded bf16 networks run packed, on the project's own kernels. They are compared with the same
// weights in float64, are no worse than plain bf16 arithmetic, and give the same bits in any batch.
#include "src/model/packed/packed_backend.hpp"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "src/kernels/bf16.hpp"
#include "src/model/device.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/model/network.hpp"
#include "src/model/profile.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/rng.hpp"
#include "tests/model/varied.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

/// Sizes that fill no panel, no pair of panels, no vector.
Json config_of(const char* type, bool tied, bool biased, int window = 0) {
  Json config{
      {"model_type", type},          {"vocab_size", 97},        {"hidden_size", 44},
      {"intermediate_size", 50},     {"num_hidden_layers", 3},  {"num_attention_heads", 6},
      {"num_key_value_heads", 2},    {"head_dim", 18},          {"max_position_embeddings", 256},
      {"tie_word_embeddings", tied}, {"attention_bias", biased}};
  if (type == std::string("llama")) config["mlp_bias"] = biased;
  if (window > 0) {
    config["use_sliding_window"] = true;
    config["sliding_window"] = window;
    config["layer_types"] = {"full_attention", "sliding_attention", "full_attention"};
  }
  return config;
}

Json with(Json config, const Json& changes) {
  config.update(changes);
  return config;
}

/// Phi-3: 14 of 18 dimensions are rotated, with a divisor each.
Json phi3(bool tied) {
  const std::vector<double> divisors{1.0, 1.1, 1.3, 1.6, 2.0, 2.5, 3.0};
  return with(config_of("phi3", tied, false),
              {{"partial_rotary_factor", 0.8},
               {"original_max_position_embeddings", 64},
               {"rope_scaling",
                {{"type", "longrope"}, {"short_factor", divisors}, {"long_factor", divisors}}}});
}

const Json kConfigs[] = {
    config_of("llama", false, false), config_of("llama", true, true),
    config_of("qwen3", true, false), config_of("qwen3", false, true, 12),
    config_of("qwen2", true, false), config_of("qwen2", false, false, 12),
    with(config_of("mistral", false, false), {{"sliding_window", 12}}),
    with(config_of("mistral", true, false), {{"sliding_window", nullptr}}), phi3(true),
    with(phi3(false), {{"sliding_window", 12}}), config_of("olmo2", false, false),
    config_of("olmo2", true, true),
    with(config_of("qwen3_moe", false, false), {{"num_experts", 5},
                                                {"num_experts_per_tok", 2},
                                                {"moe_intermediate_size", 70},
                                                {"norm_topk_prob", true},
                                                {"mlp_only_layers", {1}}}),
    config_of("cohere", true, true),
    with(config_of("cohere2", false, false),
         {{"sliding_window_pattern", 2}, {"sliding_window", 12}}),
    with(config_of("ernie4_5", true, false), {{"use_bias", true}}),
    with(config_of("glm", false, true), {{"partial_rotary_factor", 0.67}}),
    with(config_of("glm4", false, false), {{"partial_rotary_factor", 0.67}}),
    with(config_of("granite", true, true), {{"embedding_multiplier", 3},
                                            {"residual_multiplier", 0.4},
                                            {"attention_multiplier", 0.15},
                                            {"logits_scaling", 5}}),
    config_of("internlm3", false, true),
    with(config_of("gpt_oss", false, true), {{"num_local_experts", 3},
                                             {"num_experts_per_tok", 3},
                                             {"sliding_window", 12},
                                             {"swiglu_limit", 1.5}}),
    // All experts for each row: with random weights, rounding would choose others.
    with(config_of("mixtral", false, false),
         {{"num_local_experts", 3}, {"num_experts_per_tok", 3}, {"sliding_window", 12}}),
    with(config_of("olmoe", false, false), {{"num_experts", 3}, {"num_experts_per_tok", 3}}),
    with(config_of("phi", false, false), {{"partial_rotary_factor", 0.67}}),
    with(config_of("qwen2_moe", false, false), {{"num_experts", 5},
                                                {"num_experts_per_tok", 2},
                                                {"moe_intermediate_size", 70},
                                                {"shared_expert_intermediate_size", 34},
                                                {"mlp_only_layers", {1}}}),
    with(config_of("smollm3", true, true), {{"no_rope_layer_interval", 2}}),
    with(config_of("stablelm", false, false),
         {{"use_qkv_bias", true}, {"use_parallel_residual", true}}),
    config_of("starcoder2", true, false),
    with(config_of("gpt_neox", false, true), {{"rotary_pct", 0.34}}),
    with(config_of("gpt_neox", true, false),
         {{"use_parallel_residual", false}, {"hidden_act", "gelu_new"}}),
    config_of("gpt2", true, false), with(config_of("falcon", true, false), {{"bias", true}}),
    with(config_of("falcon", false, false),
         {{"num_kv_heads", 2}, {"new_decoder_architecture", true}}),
    with(config_of("internlm2", false, false), {{"bias", true}}),
    with(config_of("minicpm", true, false),
         {{"scale_emb", 3}, {"scale_depth", 1.4}, {"dim_model_base", 11}}),
    with(config_of("gemma2", true, true), {{"query_pre_attn_scalar", 24},
                                           {"attn_logit_softcapping", 4},
                                           {"final_logit_softcapping", 2},
                                           {"sliding_window", 12}}),
    with(config_of("gemma3_text", false, false),
         {{"query_pre_attn_scalar", 24},
          {"sliding_window_pattern", 2},
          {"sliding_window", 12},
          {"rope_scaling", {{"rope_type", "linear"}, {"factor", 3}}}})};

struct Checkpointed {
  test::TemporaryFolder folder;
  explicit Checkpointed(const Json& config) {
    synthesise_checkpoint(config, 3, folder.path());
    test::vary_vectors(folder.path() / "model.safetensors");
  }
  Model load(Dtype dtype, std::optional<InstructionSet> set = {}) const {
    return Model::load(folder.path(), {.dtype = dtype, .instruction_set = set});
  }
  /// bf16 with the library's products, one operation after another.
  std::unique_ptr<Model::Network> plain() const {
    const Model wide = load(Dtype::fp64);
    std::map<std::string, at::Tensor> weights;
    for (const auto& [name, tensor] : wide.network().named_parameters())
      weights.emplace(name, tensor.to(at::kBFloat16));
    return Model::Network::over(wide.config(), weights);
  }
};

struct Text {
  std::vector<Token> tokens;
  std::vector<RowLabel> labels;
  Segments segments;
  std::vector<OutputRequest> outputs;
};
/// A trunk, then two branches after it that do not see one another.
Text branched(int count) {
  Text text;
  const int first = text.segments.add({0}), second = text.segments.add({0});
  for (int i = 0; i < count; ++i) {
    const int segment = i < count / 2 ? 0 : i < count * 3 / 4 ? first : second;
    text.tokens.push_back((i * 31 + 5) % 97);
    const int place = segment == second ? i - count * 3 / 4 + count / 2 : i;
    text.labels.push_back({place, place, segment, 0});
    text.outputs.push_back({.index = i, .logits = true});
  }
  return text;
}

bool is_packed(const Model& model) {
  return dynamic_cast<const PackedBackend*>(model.network().backend.get()) != nullptr;
}
at::Tensor whole(const Model::Network& network, const Text& text) {
  return logits(network, text.tokens, text.labels, text.segments).to(at::kDouble);
}
double largest(const at::Tensor& x) { return x.abs().max().item<double>(); }
double typical(const at::Tensor& x) { return x.square().mean().sqrt().item<double>(); }

/// Feeds rows [first, last) of the text.
std::vector<RowLogits> feed(Model& model, KvCache& cache, const Text& text, size_t first,
                            size_t last, HiddenRows* hidden = nullptr) {
  const SequenceStep step{&cache,
                          &text.segments,
                          std::span(text.tokens).subspan(first, last - first),
                          std::span(text.labels).subspan(first, last - first),
                          std::span(text.outputs).first(last - first),
                          hidden};
  return model.forward({&step, 1}).front();
}

double largest_difference(const std::vector<RowLogits>& a, const std::vector<RowLogits>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (size_t row = 0; row < a.size(); ++row)
    for (size_t i = 0; i < 97; ++i)
      most = std::max(most, std::abs(double{a[row].logits[i]} - b[row].logits[i]));
  return most;
}

template <typename Test>
void with_each(Test&& test) {
  for (const InstructionSet set : instruction_sets())
    for (size_t i = 0; i < std::size(kConfigs); ++i)
      DYNAMIC_SECTION(name(set) << ", config " << i) { test(Checkpointed(kConfigs[i]), set); }
}

}  // namespace

TEST_CASE("a packed network is closer to float64 than plain bf16 arithmetic, in every family") {
  with_each([](const Checkpointed& files, InstructionSet set) {
    const Text text = branched(40);
    const Model packed = files.load(Dtype::bf16, set);
    REQUIRE(is_packed(packed));
    const at::Tensor truth = whole(files.load(Dtype::fp64).network(), text);
    const double error = typical(whole(packed.network(), text) - truth);
    const double plain = typical(whole(*files.plain(), text) - truth);
    INFO("error " << error << ", plain " << plain << ", of logits up to " << largest(truth));
    CHECK(error <= plain);
    CHECK(error > 0);
  });
}

namespace {

/// A matrix quantised and back, in double, directly from the definitions: int8 by row, NF4 by 64
/// values of a row.
at::Tensor quantised(const at::Tensor& matrix, Dtype dtype) {
  const at::Tensor w = matrix.to(at::kBFloat16).to(at::kDouble);
  if (dtype == Dtype::int8) {
    const at::Tensor step = w.abs().amax(1, true) / 127;
    return at::round(w / step) * step;
  }
  const std::vector<double> levels(std::begin(kNf4), std::end(kNf4));
  std::vector<at::Tensor> blocks;
  for (const at::Tensor& block : w.split(64, 1)) {
    const at::Tensor scale = block.abs().amax(1, true);
    const at::Tensor level = at::tensor(levels, at::kDouble);
    const at::Tensor nearest = ((block / scale).unsqueeze(2) - level).abs().argmin(2);
    blocks.push_back(
        (level.index_select(0, nearest.flatten()).view_as(block) * scale).to(at::kBFloat16));
  }
  return at::cat(blocks, 1).to(at::kDouble);
}

}  // namespace

TEST_CASE(
    "int8 and NF4 networks equal networks of their quantised weights, as closely as in bf16") {
  with_each([](const Checkpointed& files, InstructionSet set) {
    const Text text = branched(40);
    const Model wide = files.load(Dtype::fp64);
    const at::Tensor exact = whole(wide.network(), text);
    const double plain = typical(whole(*files.plain(), text) - exact);
    for (const Dtype dtype : {Dtype::int8, Dtype::nf4}) {
      std::map<std::string, at::Tensor> weights;
      for (const auto& [weight_name, tensor] : wide.network().named_parameters())
        weights[weight_name] = tensor;
      for (const Parameter& one : parameters(wide.config()))
        if (one.matrix() && one.layer >= 0 && one.role != Role::router &&
            one.role != Role::shared_router)
          weights[one.name] = quantised(weights.at(one.name), dtype);
      const at::Tensor truth = whole(*Model::Network::over(wide.config(), weights), text);
      Model model = files.load(dtype, set);
      const double error = typical(whole(model.network(), text) - truth);
      const double effect = typical(exact - truth);
      INFO(name(dtype) << ": error " << error << ", plain bf16 " << plain << ", effect " << effect);
      // `plain` is of other weights: those before they are quantised.
      CHECK(error <= 1.25 * plain);
      CHECK(error > 0);
      CHECK(effect > (dtype == Dtype::nf4 ? 5 : 1) * error);

      KvCache cache(model);
      const at::Tensor all = whole(model.network(), text);
      for (size_t row = 0; row < 40; ++row) {
        const auto alone = feed(model, cache, text, row, row + 1);
        const at::Tensor logits = at::tensor(alone[0].logits, at::kFloat).to(at::kDouble);
        REQUIRE(at::equal(logits, all[static_cast<std::int64_t>(row)]));
      }
    }
  });
}

TEST_CASE("a pass reads each expert that its rows use once: a case counted by hand") {
  // Sublayers add nothing, so that every layer sees the embedding. Token t is the unit vector t %
  // 4, and the router sends it to the experts t % 4 and t % 4 + 1 (of four).
  Json config =
      with(config_of("qwen3_moe", false, false),
           {{"num_experts", 4}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 8}});
  const Checkpointed files(config);
  const std::filesystem::path path = files.folder.path() / "model.safetensors";
  std::string bytes = read_file(path);
  const std::span file(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  for (const auto& [weight_name, tensor] : parse_safetensors(file, "file")) {
    const auto set = [&, width = tensor.shape.back()](std::int64_t row, std::int64_t column,
                                                      float value) {
      const std::uint16_t half = narrow(value);
      std::memcpy(tensor.data.data() + 2 * (row * width + column), &half, 2);
    };
    const bool router = weight_name.ends_with("mlp.gate.weight");
    const bool embedding = weight_name.ends_with("embed_tokens.weight");
    const bool adds =
        weight_name.ends_with("o_proj.weight") || weight_name.ends_with("down_proj.weight");
    if (router || embedding || adds)
      std::fill(tensor.data.begin(), tensor.data.end(), std::byte{0});
    if (embedding)
      for (std::int64_t token = 0; token < 97; ++token) set(token, token % 4, 1);
    if (router)
      for (std::int64_t expert = 0; expert < 4; ++expert) {
        set(expert, expert, 2);
        set(expert, (expert + 3) % 4, 1);
      }
  }
  write_file(path, [&](const FileSink& put) { put(bytes.data(), bytes.size()); });
  // 3 layers
  const std::pair<std::vector<Token>, std::int64_t> passes[] = {
      {{0}, 3 * 2},    {{0, 4, 8}, 3 * 2}, {{0, 1}, 3 * 3},
      {{3, 2}, 3 * 3}, {{0, 2}, 3 * 4},    {{0, 1, 2, 3, 4}, 3 * 4}};
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::int8}) {
    Model model = files.load(dtype);
    CHECK(is_packed(model) == (dtype != Dtype::fp32));
    std::int64_t before = 0;
    for (const auto& [tokens, read] : passes) {
      Text text = branched(static_cast<int>(tokens.size()));
      text.tokens = tokens;
      KvCache cache(model);
      feed(model, cache, text, 0, tokens.size());
      CHECK(model.experts_read() - before == read);
      before = model.experts_read();
    }
  }
}

TEST_CASE("quantised networks report their bytes, and are refused where they cannot run") {
  // 3 layers; q 108, k and v 36, o 44 from 108, gate and up 50, down 44 from 50 inputs; the rest
  // bf16.
  const Checkpointed files(kConfigs[0]);
  const std::int64_t rows = 108 + 36 + 36 + 50 + 50, rest = 2 * (2 * 97 * 44 + 7 * 44);
  const std::int64_t int8 = rows * (44 + 4) + 44 * (108 + 4) + 44 * (50 + 4);
  const std::int64_t nf4 = rows * (22 + 4) + 44 * (54 + 2 * 4) + 44 * (25 + 4);
  CHECK(files.load(Dtype::int8).weight_bytes() == 3 * int8 + rest);
  CHECK(files.load(Dtype::nf4).weight_bytes() == 3 * nf4 + rest);
  CHECK(files.load(Dtype::nf4).network().type == at::kBFloat16);
  CHECK_THROWS_AS(Model::load(files.folder.path(), {.dtype = Dtype::nf4, .device = "cuda"}),
                  ModelError);
}

TEST_CASE("a row's logits have the same bits however its text is cut, and in any batch") {
  with_each([](const Checkpointed& files, InstructionSet set) {
    Model model = files.load(Dtype::bf16, set);
    const Text text = branched(40);
    KvCache together(model);
    const auto all = feed(model, together, text, 0, 40);
    for (const size_t size : {1, 7, 16}) {
      KvCache cache(model);
      for (size_t first = 0; first < 40; first += size) {
        const size_t last = std::min<size_t>(40, first + size);
        const auto rows = feed(model, cache, text, first, last);
        for (size_t row = first; row < last; ++row)
          REQUIRE(rows[row - first].logits == all[row].logits);
      }
    }
    const Text other = branched(23);
    KvCache a(model), b(model);
    const SequenceStep steps[] = {{&a, &other.segments, other.tokens, other.labels, other.outputs},
                                  {&b, &text.segments, text.tokens, text.labels, text.outputs}};
    const auto packed = model.forward(steps);
    for (size_t row = 0; row < 40; ++row) REQUIRE(packed[1][row].logits == all[row].logits);
    CHECK(packed[0].size() == 23);
  });
}

TEST_CASE("the number of threads changes no bit") {
  const Checkpointed files(kConfigs[3]);
  Model model = files.load(Dtype::bf16);
  const Text text = branched(40);
  const int before = threads();
  std::vector<std::vector<RowLogits>> results;
  for (const int members : {1, 2, 5}) {
    set_threads(members);
    KvCache cache(model);
    results.push_back(feed(model, cache, text, 0, 40));
  }
  set_threads(before);
  for (size_t row = 0; row < 40; ++row) {
    CHECK(results[0][row].logits == results[1][row].logits);
    CHECK(results[0][row].logits == results[2][row].logits);
  }
}

TEST_CASE("a packed network skips sublayers, and gives further rows") {
  with_each([](const Checkpointed& files, InstructionSet set) {
    Model model = files.load(Dtype::bf16, set), truth = files.load(Dtype::fp64);
    const Text text = branched(20);
    const SkippedSublayers skipped{{true, false, false}, {false, false, true}};
    const auto run = [&](Model& network, const SkippedSublayers& left_out) {
      KvCache cache(network);
      const SequenceStep step{&cache, &text.segments, text.tokens, text.labels, text.outputs};
      return network.forward({&step, 1}, left_out).front();
    };
    const auto got = run(model, skipped), want = run(truth, skipped), full = run(truth, {});
    REQUIRE(got.size() == 20);
    const double error = largest_difference(got, want), effect = largest_difference(full, want);
    INFO("error " << error << ", effect of skipping " << effect);
    CHECK(error < effect / 10);

    KvCache cache(model);
    HiddenRows hidden;
    const auto rows = feed(model, cache, text, 0, 20, &hidden);
    const std::vector<OutputRequest> later{{.index = 3, .logits = true},
                                           {.index = 0, .logits = true}};
    const FurtherRows further{hidden.from(5), later};
    const auto more = model.further({&further, 1}).front();
    CHECK(more[0].logits == rows[8].logits);
    CHECK(more[1].logits == rows[5].logits);
  });
}

TEST_CASE("a position that has no learned row is an error") {
  const Checkpointed files(config_of("gpt2", true, false));
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    Model model = files.load(dtype);
    Text text = branched(4);
    text.labels.back().position = 256;
    KvCache cache(model);
    CHECK_THROWS_WITH(
        feed(model, cache, text, 0, 4),
        Catch::Contains(
            "position 256 is not valid, the model has positions 0 to 255 (n_positions)"));
  }
}

TEST_CASE("a packed network holds each weight once, and cannot be trained") {
  for (const Json& config : kConfigs) {
    const bool tied = config.at("tie_word_embeddings");
    const Checkpointed files(config);
    const Model model = files.load(Dtype::bf16);
    const Model::Network& network = model.network();
    CHECK(network.embedding.defined() != tied);
    CHECK_FALSE(network.head.weight.defined());
    for (const Layer& layer : network.layers) {
      CHECK_FALSE(layer.gate_up.defined());
      for (const Linear* linear : {&layer.q, &layer.k, &layer.v, &layer.qkv, &layer.o, &layer.gate,
                                   &layer.up, &layer.down})
        CHECK_FALSE((linear->weight.defined() || linear->bias.defined()));
    }
    CHECK(model.weight_bytes() == 2 * parameter_count(model.config()));
    const Text text = branched(4);
    const PackedSequence sequence{text.tokens, text.labels, &text.segments};
    CHECK_THROWS_AS(head_inputs(network, {&sequence, 1}, {0}), std::logic_error);
  }
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp64})
    CHECK_FALSE(is_packed(Checkpointed(kConfigs[0]).load(dtype)));
}

TEST_CASE("extra heads run packed, on the norm that the network's own head reads") {
  for (const InstructionSet set : instruction_sets())
    for (const bool shares : {false, true})
      DYNAMIC_SECTION(name(set) << (shares ? " shared" : "")) {
        const Checkpointed files(kConfigs[4]);
        synthesise_extra_heads({.heads = 2, .blocks = 3, .shares_head = shares}, 9,
                               files.folder.path());
        test::vary_vectors(files.folder.path() / kExtraHeadsFile);
        Text text = branched(40);
        for (size_t i = 0; i < 40; ++i) text.outputs[i].head = static_cast<int>(i % 3);
        const auto run = [&](Dtype dtype) {
          Model model = files.load(dtype, set);
          for (const ExtraHead& head : model.network().extra_heads)
            CHECK(head.out.weight.defined() == (dtype != Dtype::bf16 && !shares));
          KvCache cache(model);
          return feed(model, cache, text, 0, 40);
        };
        const auto got = run(Dtype::bf16), want = run(Dtype::fp64);
        // The same with the library in bf16: the network's hidden rows, then its heads.
        const auto rounded = [](const at::Tensor& x) { return x.to(at::kBFloat16); };
        const Model wide = files.load(Dtype::fp64);
        std::vector<ExtraHead> plain = wide.network().extra_heads;
        for (ExtraHead& head : plain) {
          for (Linear& block : head.blocks) block = {rounded(block.weight), rounded(block.bias)};
          head.out.weight = rounded(shares ? wide.network().head.weight : head.out.weight);
        }
        const auto network = files.plain();
        const c10::NoGradGuard no_grad;
        const PackedSequence sequence{text.tokens, text.labels, &text.segments};
        std::vector<std::int64_t> all(40);
        std::iota(all.begin(), all.end(), 0);
        const at::Tensor z = head_inputs(*network, {&sequence, 1}, all);
        for (size_t head = 1; head < 3; ++head) {
          const at::Tensor theirs =
              plain[head - 1].out(plain[head - 1].residual(z)).to(at::kDouble);
          double error = 0, bound = 0;
          for (size_t row = head; row < 40; row += 3)
            for (size_t i = 0; i < 97; ++i) {
              const double truth = want[row].logits[i];
              error = std::max(error, std::abs(got[row].logits[i] - truth));
              bound = std::max(
                  bound,
                  std::abs(theirs[static_cast<std::int64_t>(row)][static_cast<std::int64_t>(i)]
                               .item<double>() -
                           truth));
            }
          INFO("head " << head << ": error " << error << ", plain " << bound);
          CHECK(error <= bound);
          CHECK(error > 0);
        }
      }
}

TEST_CASE("a profile tells how the time of a packed network's passes was spent") {
  const Checkpointed files(kConfigs[2]);
  Model model = files.load(Dtype::bf16);
  const Text text = branched(40);
  Profile profile;
  model.set_profile(&profile);
  const SteadyClock clock;
  const std::int64_t begin = clock.now_ns();
  KvCache cache(model);
  feed(model, cache, text, 0, 40);
  const std::int64_t wall = clock.now_ns() - begin;
  CHECK(std::min({profile.linear_ns, profile.attention_ns, profile.rows_ns, profile.logits_ns}) >
        0);
  CHECK(profile.sum() <= wall);
  model.set_profile(nullptr);
  const std::int64_t before = profile.sum();
  KvCache other(model);
  feed(model, other, text, 0, 40);
  CHECK(profile.sum() == before);
  Model wide = files.load(Dtype::fp32);
  CHECK_THROWS_AS(wide.set_profile(&profile), ConfigError);
}

TEST_CASE(
    "the cache of a packed network forgets dropped rows, packs the living ones and is copied") {
  for (const Json& config : {kConfigs[0], kConfigs[2]}) {
    const Checkpointed files(config);
    // 200 rows, most of which are dropped, so that the living ones move; then more rows, on the
    // cache and on a copy of it.
    const auto run = [&](Dtype dtype, bool drop) {
      Model model = files.load(dtype);
      Text text = branched(240);
      for (size_t i = 0; i < 240; ++i)
        text.labels[i] = {static_cast<int>(i), static_cast<int>(i), 0, 0};
      KvCache cache(model);
      feed(model, cache, text, 0, 200);
      std::vector<int> dropped;
      for (int row = 0; row < 200; ++row)
        if (row % 7 != 3) dropped.push_back(row);
      if (drop) cache.drop(dropped);
      KvCache copy = cache.fork();
      auto rows = feed(model, cache, text, 200, 230);
      const auto again = feed(model, copy, text, 200, 230);
      for (size_t row = 0; row < 30; ++row) REQUIRE(rows[row].logits == again[row].logits);
      return rows;
    };
    const auto got = run(Dtype::bf16, true), want = run(Dtype::fp64, true),
               full = run(Dtype::fp64, false);
    REQUIRE(got.size() == 30);
    const double error = largest_difference(got, want), effect = largest_difference(full, want);
    INFO("error " << error << ", effect of dropping " << effect);
    CHECK(error < effect / 5);
  }
}

TEST_CASE("memory of a mapped file is released, and read again when needed") {
  test::TemporaryFolder folder;
  const std::string text(20000, 'x');
  write_file(folder.path() / "file", [&](const FileSink& put) { put(text.data(), text.size()); });
  const MappedFile file(folder.path() / "file");
  file.bytes()[4096] = std::byte{'y'};
  file.bytes()[100] = std::byte{'z'};
  file.release(file.bytes().subspan(50, 12000));
  CHECK(file.bytes()[4096] == std::byte{'x'});  // a whole page inside
  CHECK(file.bytes()[100] == std::byte{'z'});   // a page that also belongs to another
}
