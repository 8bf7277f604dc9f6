// Low-rank adapters: gradients, stored activations, dropout, and the written files.
#include <cmath>

#include "decoders/ar/format.hpp"
#include "src/model/device.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/rng.hpp"
#include "src/training/trainer.hpp"
#include "src/training/training_state.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"
#include "tests/training/trainer_checks.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

constexpr int kVocab = 61;

/// A random checkpoint. Of the families, phi3 has fused matrices and qwen2 biases.
struct Base {
  explicit Base(const std::string& family, bool tied) {
    set_threads(1);
    Json shape = {{"model_type", family},
                  {"vocab_size", kVocab},
                  {"hidden_size", 32},
                  {"intermediate_size", 48},
                  {"head_dim", 8},
                  {"num_hidden_layers", 2},
                  {"num_attention_heads", 4},
                  {"num_key_value_heads", 2},
                  {"max_position_embeddings", 256},
                  {"eos_token_id", 0},
                  {"tie_word_embeddings", tied}};
    if (family == "qwen3_moe")
      shape.update({{"num_experts", 4}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 40}});
    synthesise_checkpoint(shape, 5, folder.path());
    config = read_model_config(folder.path());
  }
  std::map<std::string, at::Tensor> weights(at::ScalarType type) const {
    return load_weights(folder.path(), type);
  }
  AdapterShape shape(double dropout = 0) const {
    return {.rank = 3,
            .alpha = 6,
            .dropout = dropout,
            .targets = adapter_targets(config),
            .tokens = {7, 11, 40}};
  }

  TemporaryFolder folder;
  ModelConfig config;
};

std::vector<TrainingSample> samples(std::uint64_t seed) {
  Rng rng(seed);
  const auto random = [&](int count) {
    Tokens tokens;
    for (; count > 0; --count) tokens.push_back(static_cast<Token>(rng.below(kVocab)));
    return tokens;
  };
  std::vector<TrainingSample> all;
  for (const int length : {9, 4, 14})
    all.push_back(causal_sample(random(length / 2 + 1), random(length)));
  all.front().tokens[1] = 11;  // a token with its own rows is an input and a target
  all.back().targets.back().second = 40;
  return all;
}

/// Weights as they could be after some training; a new adapter would change nothing.
void disturb(Trainer& trainer) {
  Rng rng(3);
  for (const AdamW::Slot& slot : trainer.optimiser().slots())
    for (std::int64_t i = 0; i < slot.weight.numel(); ++i)
      slot.weight.view({-1})[i] += 0.1 * rng.normal();
  trainer.refresh();
}

double worst(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max(most, (a[i] - b[i]).abs().max().item<double>());
  return most;
}

}  // namespace

TEST_CASE("tokens with equal rows in the checkpoint begin with different rows, others unchanged") {
  const Base base("llama", true);
  auto weights = base.weights(at::kFloat);
  at::Tensor rows = weights.at("model.embed_tokens.weight").clone();
  const at::Tensor told = rows[11].clone();
  rows[40].copy_(rows[7] * 1.001);
  weights["model.embed_tokens.weight"] = rows;
  const auto began = [&](std::uint64_t seed) {
    const auto what = low_rank_adapter(base.config, base.shape(), seed);
    for (const Parameter& parameter : what->parameters())
      if (parameter.role == Role::embedding) return what->begin(parameter, weights);
    throw std::logic_error("no rows of tokens");
  };
  const at::Tensor a = began(1);
  CHECK(at::equal(a[1].to(at::kFloat), told));
  const double width = rows.std().item<double>();
  for (const int i : {0, 2}) {
    CHECK(!at::allclose(a[i].to(at::kFloat), rows[7], 0.1));
    CHECK(std::abs(a[i].std().item<double>() / width - 1) < 0.6);  // 32 numbers: 4 deviations
  }
  CHECK(at::cosine_similarity(a[0], a[2], 0).abs().item<double>() < 0.8);
  CHECK(at::equal(a, began(1)));
  CHECK(!at::equal(a, began(2)));
}

TEST_CASE("an adapter's gradients agree with central differences") {
  for (const auto& [family, tied] :
       {std::pair{"llama", true}, std::pair{"qwen2", false}, std::pair{"phi3", false},
        std::pair{"gemma2", true}, std::pair{"gemma3_text", false},
        std::pair{"qwen3_moe", false}}) {
    const Base base(family, tied);
    const auto what = low_rank_adapter(base.config, base.shape(), 1);
    Trainer trainer(*what, base.weights(at::kDouble),
                    {.dtype = Dtype::fp64, .clip = 0, .micro_tokens = 20});
    const auto batch = samples(2);
    const double untouched =
        Trainer(*whole_network(base.config), base.weights(at::kDouble), {.dtype = Dtype::fp64})
            .loss(batch_of(batch));
    CHECK(std::abs(trainer.loss(batch_of(batch)) - untouched) <=
          1e-12);  // it begins without effect
    disturb(trainer);
    CHECK(std::abs(trainer.loss(batch_of(batch)) - untouched) > 1e-3);
    Trainer::Report report;
    const std::vector<at::Tensor> gradients = trainer.gradients(batch_of(batch), report);
    CHECK(gradients.size() == what->parameters().size());
    Rng rng(11);
    check_gradients(trainer, batch_of(batch), gradients, rng, family);
  }
}

TEST_CASE(
    "extra heads are trained together with an adapter: gradients, files, and what is decoded") {
  for (const bool shares : {false, true}) {
    const Base base("llama", shares);
    const ExtraHeadShape shape{.heads = 2, .blocks = 1, .shares_head = shares};
    const auto what =
        extra_heads(base.config, shape, low_rank_adapter(base.config, base.shape(), 1));
    CHECK(files_of(*what) == std::set<std::string>{kAdapterFile, kExtraHeadsFile});
    Trainer trainer(*what, base.weights(at::kDouble),
                    {.dtype = Dtype::fp64, .clip = 0, .micro_tokens = 20});
    const auto batch = samples(2);
    disturb(trainer);
    Trainer::Report report;
    const std::vector<at::Tensor> gradients = trainer.gradients(batch_of(batch), report);
    Rng rng(12);
    check_gradients(trainer, batch_of(batch), gradients, rng, shares ? "shared" : "own");
    std::vector<double> weights;
    for (const Trainable::Loss& loss : what->losses()) weights.push_back(loss.weight);
    CHECK(weights == std::vector<double>{1, 0.2 * 0.8, 0.2 * (0.8 * 0.8)});
    const Trainer::Measure measure = trainer.measure(batch_of(batch));
    CHECK(measure.ranks.size() == 3);
    CHECK(std::abs(measure.loss - report.loss) <= 1e-12 * report.loss);

    // After it is written and loaded over the checkpoint, it computes what was trained.
    const TemporaryFolder folder;
    write_adapter_config(base.shape(), base.config, "base", folder.path());
    export_weights(folder.path(), trainer);
    const Model model =
        Model::load(base.folder.path(), {.dtype = Dtype::fp64, .adapter = folder.path()});
    CHECK(model.config().extra_heads == 2);
    const TrainingSample& sample = batch.back();
    const PackedSequence whole{sample.tokens, sample.labels, &sample.segments};
    for (size_t loss = 0; loss < 3; ++loss) {
      const auto logits = [&](const Model::Network& network) {
        return what->logits(network, loss, head_inputs(network, {&whole, 1}, {3, 5}));
      };
      const at::Tensor trained = logits(trainer.network()).detach();
      const double off = (logits(model.network()) - trained).abs().max().item<double>();
      // Written in bf16.
      CHECK(off <= 0.03 * trained.abs().max().item<double>());
    }
  }
}

TEST_CASE("layers that are computed again have the gradients of layers that are kept") {
  for (const char* family : {"llama", "phi3", "qwen3_moe"}) {
    const Base base(family, false);
    const auto batch = samples(4);
    const auto adapter = low_rank_adapter(base.config, base.shape(0.3), 1);
    const auto whole = whole_network(base.config);
    for (const Trainable* what : {adapter.get(), whole.get()}) {
      std::vector<std::vector<at::Tensor>> gradients;
      for (const bool again : {false, true}) {
        Trainer trainer(*what, base.weights(at::kFloat), {.checkpoint_activations = again});
        if (what == adapter.get()) disturb(trainer);
        Trainer::Report report;
        gradients.push_back(trainer.gradients(batch_of(batch), report));
      }
      INFO(family);
      CHECK(worst(gradients[0], gradients[1]) == 0);
    }
  }
}

TEST_CASE("dropout: by seed and update, at its share, only in training") {
  const Base base("llama", true);
  const auto batch = samples(6);
  const auto gradients = [&](double dropout, std::uint64_t seed, std::int64_t update) {
    const auto what = low_rank_adapter(base.config, base.shape(dropout), 1);
    Trainer trainer(*what, base.weights(at::kDouble), {.dtype = Dtype::fp64, .seed = seed});
    disturb(trainer);
    trainer.optimiser().set_steps(update);
    Trainer::Report report;
    auto found = trainer.gradients(batch_of(batch), report);
    return std::pair{std::move(found), std::pair{report.loss, trainer.loss(batch_of(batch))}};
  };
  const auto [plain, losses] = gradients(0, 1, 0);
  CHECK(std::abs(losses.first - losses.second) <= 1e-12);
  const auto [dropped, with] = gradients(0.25, 1, 0);
  CHECK(with.second == losses.second);
  CHECK(std::abs(with.first - losses.first) > 1e-6);
  CHECK(worst(dropped, gradients(0.25, 1, 0).first) == 0);
  CHECK(worst(dropped, gradients(0.25, 2, 0).first) > 0);
  CHECK(worst(dropped, gradients(0.25, 1, 1).first) > 0);

  const at::Tensor x = at::ones({400, 50}, at::kDouble), none = at::zeros({400, 50}, at::kDouble);
  const LowRank identity{.a = at::eye(50, at::kDouble),
                         .b = at::eye(50, at::kDouble),
                         .scale = 1,
                         .dropout = 0.25,
                         .seed = 9};
  const at::Tensor kept = identity(none, x);
  CHECK((kept.eq(0) | (kept - 1 / 0.75).abs().lt(1e-12)).all().item<bool>());
  // Four deviations of a mean of 20,000 draws.
  CHECK(std::abs(kept.eq(0).to(at::kDouble).mean().item<double>() - 0.25) <= 0.0123);
}

TEST_CASE("an adapter that is written and merged computes the same as in training") {
  for (const auto& [family, tied] :
       {std::pair{"llama", true}, std::pair{"qwen2", false}, std::pair{"phi3", false},
        std::pair{"gemma2", true}, std::pair{"gemma3_text", false},
        std::pair{"qwen3_moe", false}}) {
    const Base base(family, tied);
    const AdapterShape shape = base.shape();
    const auto what = low_rank_adapter(base.config, shape, 1);
    const auto batch = samples(7);
    Trainer trainer(*what, base.weights(at::kDouble), {.dtype = Dtype::fp64});
    for (int step = 0; step < 15; ++step) trainer.step(batch_of(batch), 2e-2);
    for (const AdamW::Slot& slot : trainer.optimiser().slots())
      slot.weight.copy_(slot.weight.to(at::kBFloat16));  // as written
    trainer.refresh();
    const double unmerged = trainer.loss(batch_of(batch));
    const TemporaryFolder folder;
    write_adapter_config(shape, base.config, base.folder.path().string(), folder.path());
    export_weights(folder.path(), trainer);

    const Adapter adapter = Adapter::load(folder.path(), base.config);
    std::map<std::string, at::Tensor> weights = base.weights(at::kDouble);
    for (const Parameter& parameter : parameters(base.config))
      weights[parameter.name] = adapter.merged(parameter, weights[parameter.name]);
    const auto whole = whole_network(base.config);
    Trainer merged(*whole, weights, {.dtype = Dtype::fp64});
    INFO(family << ": " << unmerged);
    CHECK(std::abs(merged.loss(batch_of(batch)) - unmerged) <= 1e-12 * unmerged);
    CHECK(unmerged < 0.8 * Trainer(*whole, base.weights(at::kDouble), {.dtype = Dtype::fp64})
                               .loss(batch_of(batch)));

    // As loaded, and as stored: in the types of the checkpoint.
    const Model loaded =
        Model::load(base.folder.path(), {.dtype = Dtype::fp64, .adapter = folder.path()});
    const TemporaryFolder out;
    merge_adapter(base.folder.path(), folder.path(), out.path() / "model.safetensors");
    std::filesystem::copy(base.folder.path() / "config.json", out.path() / "config.json");
    const auto stored = load_weights(out.path(), at::kDouble);
    for (const auto& [name, weight] : loaded.network().named_parameters()) {
      INFO(name);
      // Summed in float32.
      CHECK((weight - weights.at(name)).abs().max().item<double>() <= 1e-6);
      // Rounded once to bf16.
      const at::Tensor far = (stored.at(name) - weight).abs();
      CHECK(far.le(weight.abs() * std::ldexp(1.0001, -8)).all().item<bool>());
    }
  }
}

TEST_CASE("unsuitable adapters are refused, with the reason") {
  const Base base("llama", true);
  AdapterShape shape = base.shape();
  CHECK_THROWS_AS(low_rank_adapter(base.config, {.rank = 2, .targets = {"qproj"}}, 1), ConfigError);
  const auto what = low_rank_adapter(base.config, shape, 1);
  Trainer trainer(*what, base.weights(at::kFloat), {});
  const auto refused = [&](const AdapterShape& written, const Json& changes,
                           const std::string& part) {
    const TemporaryFolder folder;
    write_adapter_config(written, base.config, "base", folder.path());
    Json json = read_json(folder.path() / kAdapterConfig);
    json.update(changes);
    write_file(folder.path() / kAdapterConfig, json.dump());
    export_weights(folder.path(), trainer);
    INFO(part);
    CHECK_THROWS_WITH(Adapter::load(folder.path(), base.config), Catch::Contains(part));
  };
  refused(shape, {{"use_dora", true}}, "lora_magnitude_vector");
  refused(shape, {{"peft_type", "IA3"}}, "peft_type");
  refused(shape, {{"rank_pattern", {{"q_proj", 4}}}}, "expected [4, ");
  refused(shape, {{"rank_pattern", {{"(q_proj", 4}}}}, "rank_pattern");
  refused(shape, {{"trainable_token_indices", {7, 900}}}, "trainable_token_indices");
  refused(shape, {{"trainable_token_indices", {7, 11}}}, "trainable_tokens_delta");
  refused(shape, {{"trainable_token_indices", nullptr}}, "fits nothing");
  shape.rank = 4;
  refused(shape, Json::object(), "lora_A");
}
