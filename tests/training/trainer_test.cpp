// One update from end to end: packed logits, gradients, and the effect of bf16 and of several
// forwards.
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "decoders/apar/format.hpp"
#include "decoders/hpd/format.hpp"
#include "src/model/device.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/training/shared_prefix.hpp"
#include "src/training/trainer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/training/trainer_checks.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// Stacks with gaps, ended and cut values, and isolation, over random ids.
std::vector<TrainingSample> samples_of(int vocab, Rng& rng) {
  std::vector<TrainingSample> samples;
  const auto random = [&](std::uint64_t least, std::uint64_t more) {
    Tokens tokens;
    for (std::uint64_t i = least + rng.below(more); i > 0; --i)
      tokens.push_back(static_cast<Token>(rng.below(static_cast<std::uint64_t>(vocab))));
    return tokens;
  };
  for (int i = 0; i < 3; ++i) {
    std::vector<Tokens> segments, values;
    for (int r = 0; r < 4; ++r) {
      segments.push_back(random(1, 3));
      values.push_back(random(1, 4));
    }
    samples.push_back(
        hpd_sample(lay_out(random(2, 5), segments, 2,
                           {.k_max = 4, .stack = 2, .isolated = static_cast<HpdIsolation>(i % 3)}),
                   values));
  }
  TrainingSample causal;  // has no mask in the fused kernel
  for (int i = 0; i < 9; ++i) {
    causal.add(static_cast<Token>(i % vocab), {i, i, 0, 0});
    causal.expect(static_cast<Token>(rng.below(static_cast<std::uint64_t>(vocab))));
  }
  samples.push_back(causal);
  return samples;
}

std::map<std::string, at::Tensor> weights_of(const Model& model) {
  std::map<std::string, at::Tensor> weights;
  for (const auto& [name, weight] : model.network().named_parameters())
    weights.emplace(name, weight.clone());
  return weights;
}

}  // namespace

TEST_CASE("packed sequences have the same logits as each one alone") {
  set_threads(1);
  for (const char* family : {"llama", "qwen3", "gemma2", "gemma3_text", "qwen3_moe"}) {
    TinyNetwork tiny(family, 5);
    Model model = tiny.load(Dtype::fp64);
    Rng rng(4);
    const auto samples = samples_of(model.config().vocab_size, rng);
    std::vector<PackedSequence> packed;
    std::vector<std::int64_t> rows;
    std::vector<at::Tensor> alone;
    std::int64_t begin = 0;
    for (const auto& sample : samples) {
      packed.push_back({sample.tokens, sample.labels, &sample.segments});
      const at::Tensor all = logits(model.network(), sample.tokens, sample.labels, sample.segments);
      for (const auto& [row, target] : sample.targets) {
        rows.push_back(begin + row);
        alone.push_back(all[row]);
      }
      begin += std::ssize(sample.tokens);
    }
    for (const bool joined : {false, true}) {
      const at::Tensor inputs = head_inputs(model.network(), packed, rows, {.joined = joined});
      const at::Tensor difference =
          (training_logits(model.network(), inputs) - at::stack(alone)).abs().max();
      CHECK(difference.item<double>() <= 1e-10);  // logits up to some ten, another order of sums
    }
  }
}

TEST_CASE("a training step's gradients agree with central differences") {
  set_threads(1);
  TinyNetwork tiny("qwen3", 7);
  Model model = tiny.load(Dtype::fp64);
  const auto what = whole_network(model.config());
  Rng rng(11);
  const auto samples = samples_of(model.config().vocab_size, rng);
  const auto batch = batch_of(samples);
  Trainer trainer(*what, weights_of(model), {.dtype = Dtype::fp64, .clip = 0, .micro_tokens = 40});
  Trainer::Report report;
  const std::vector<at::Tensor> gradients = trainer.gradients(batch, report);
  CHECK(std::abs(report.loss - trainer.loss(batch)) <= 1e-12 * report.loss);
  check_gradients(trainer, batch, gradients, rng, "qwen3");
}

TEST_CASE(
    "sequences that share their beginning have the loss and gradients of separate sequences") {
  set_threads(1);
  TinyNetwork tiny("qwen3", 3);
  Model model = tiny.load(Dtype::fp64);
  const auto what = whole_network(model.config());
  Rng rng(21);
  const auto random = [&](std::uint64_t count) {
    Tokens tokens;
    for (; count > 0; --count)
      tokens.push_back(
          static_cast<Token>(rng.below(static_cast<std::uint64_t>(model.config().vocab_size))));
    return tokens;
  };
  const Tokens beginning = random(40);
  std::vector<TrainingSample> apart;
  std::int64_t rows = 0, targets = 0;
  for (int i = 0; i < 5; ++i) {
    Tokens prompt = beginning;
    for (const Token token : random(3)) prompt.push_back(token);
    if (i % 2) {
      apart.push_back(
          hpd_sample(lay_out(prompt, {random(2), random(1), random(3)}, 1, {.k_max = 4}),
                     {random(3), random(1), random(4)}));
    } else {
      TrainingSample& causal = apart.emplace_back();
      for (const Token token : prompt) {
        const int at = static_cast<int>(causal.tokens.size());
        causal.add(token, {at, at, 0, 0});
      }
      causal.expect(random(1).front());
    }
    rows += std::ssize(apart.back().tokens);
    targets += std::ssize(apart.back().targets);
  }
  std::vector<TrainingSample> shared = share_prefixes(apart, 3);
  REQUIRE(shared.size() == 2);  // three and two
  std::int64_t fewer = 0, same = 0;
  for (const auto& sample : shared) {
    fewer += std::ssize(sample.tokens);
    same += std::ssize(sample.targets);
  }
  CHECK(rows - fewer >= 3 * 40);
  CHECK(same == targets);
  CHECK(share_prefixes(apart, 1).size() == 5);
  CHECK(share_prefixes(apart, 3, 60).size() == 5);
  std::vector<std::vector<at::Tensor>> gradients;
  std::vector<double> losses;
  for (const std::vector<TrainingSample>* samples : {&apart, &shared}) {
    Trainer trainer(*what, weights_of(model), {.dtype = Dtype::fp64});
    Trainer::Report report;
    gradients.push_back(trainer.gradients(batch_of(*samples), report));
    losses.push_back(report.loss);
  }
  CHECK(std::abs(losses[0] - losses[1]) <= 1e-12 * losses[0]);
  for (size_t i = 0; i < gradients[0].size(); ++i)
    CHECK((gradients[0][i] - gradients[1][i]).abs().max().item<double>() <=
          1e-11 * std::max(1.0, gradients[0][i].abs().max().item<double>()));
}

TEST_CASE("several forwards, at once or not, give the gradient and the loss of one") {
  set_threads(1);
  TinyNetwork tiny("llama", 8);
  Model model = tiny.load(Dtype::fp64);
  const auto what = whole_network(model.config());
  Rng rng(12);
  const auto samples = samples_of(model.config().vocab_size, rng);
  const auto batch = batch_of(samples);
  Trainer whole(*what, weights_of(model), {.dtype = Dtype::fp64, .micro_tokens = 1000});
  Trainer::Report expected;
  const std::vector<at::Tensor> gradient = whole.gradients(batch, expected);
  const double loss = whole.loss(batch);
  for (const int workers : {1, 2, 3, 9})  // 9: more than there are samples
    for (const std::int64_t micro : {1, 30, 1000}) {
      INFO(workers << " workers, " << micro << " tokens");
      Trainer trainer(*what, weights_of(model),
                      {.dtype = Dtype::fp64, .micro_tokens = micro, .workers = workers});
      Trainer::Report report;
      const std::vector<at::Tensor> made = trainer.gradients(batch, report);
      CHECK(report.tokens == expected.tokens);
      CHECK(std::abs(report.loss - expected.loss) <= 1e-12 * loss);
      CHECK(std::abs(trainer.loss(batch) - loss) <= 1e-12 * loss);
      REQUIRE(made.size() == gradient.size());
      for (size_t i = 0; i < made.size(); ++i)
        CHECK((made[i] - gradient[i]).abs().max().item<double>() <= 1e-12);
    }
}

TEST_CASE("bf16 computes near fp32 and keeps fp32 masters") {
  set_threads(1);
  TinyNetwork tiny("llama", 9);
  Model model = tiny.load(Dtype::fp32);
  const auto what = whole_network(model.config());
  Rng rng(13);
  const auto samples = samples_of(model.config().vocab_size, rng);
  const auto weights = initial_weights(model.config(), 3);
  double losses[2];
  int next = 0;
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    std::map<std::string, at::Tensor> copy;
    for (const auto& [name, weight] : weights) copy.emplace(name, weight.clone());
    Trainer trainer(*what, copy, {.dtype = dtype});
    const double before = trainer.loss(batch_of(samples));
    for (int step = 0; step < 30; ++step) trainer.step(batch_of(samples), 1e-2);
    losses[next] = trainer.loss(batch_of(samples));
    CHECK(losses[next++] < 0.8 * before);
    for (const auto& slot : trainer.optimiser().slots())
      CHECK(slot.weight.scalar_type() == at::kFloat);
  }
  CHECK(std::abs(losses[0] - losses[1]) <= 0.2 * losses[0]);
}

TEST_CASE(
    "initial weights are the same for a seed, and small where they feed the residual stream") {
  TinyNetwork tiny("llama", 1);
  ModelConfig config = tiny.load(Dtype::fp32).config();
  config.initializer_range = 0.05;
  const auto one = initial_weights(config, 1), same = initial_weights(config, 1),
             other = initial_weights(config, 2);
  const char* up = "model.layers.0.mlp.up_proj.weight";
  const char* down = "model.layers.0.mlp.down_proj.weight";
  CHECK(at::equal(one.at(up), same.at(up)));
  CHECK_FALSE(at::equal(one.at(up), other.at(up)));
  CHECK(one.at("model.norm.weight").eq(1).all().item<bool>());
  const double ratio = (one.at(up).std() / one.at(down).std()).item<double>();
  CHECK(std::abs(ratio / std::sqrt(2.0 * config.layers) - 1) <= 0.15);
  CHECK(std::abs(one.at(up).std().item<double>() / config.initializer_range - 1) <= 0.15);
  config.initializer_range = 0;
  CHECK_THROWS_AS(initial_weights(config, 1), ConfigError);
}

TEST_CASE("apar: the tree's mask and plain sequences of threads have the same loss") {
  set_threads(1);
  for (const char* family : {"llama", "qwen3"}) {
    TinyNetwork tiny(family, 8);
    const Model model = tiny.load(Dtype::fp64);
    const auto what = whole_network(model.config());
    TrainerOptions options;
    options.dtype = Dtype::fp64;
    Trainer trainer(*what, weights_of(model), options);
    Rng rng(12);
    const auto random = [&](std::uint64_t least) {
      Tokens tokens;
      for (std::uint64_t i = least + rng.below(4); i > 0; --i)
        tokens.push_back(static_cast<Token>(rng.below(390)));
      return tokens;
    };
    for (int round = 0; round < 4; ++round) {
      ParagraphTree tree;
      std::vector<int> leaves{0};
      for (int forks = 0; forks < 5; ++forks) {
        const size_t i = rng.below(leaves.size());
        const auto [next, details] = tree.fork(leaves[i]);
        leaves[i] = next;
        leaves.push_back(details);
      }
      for (int node = 0; node < tree.size(); ++node) tree.node(node).tokens = random(0);
      const Tokens prompt = random(2);
      const AparTokens control{.fork = 393, .child = 394};
      const AparEnds ends{.eos = 0, .main_has_eos = round % 2 == 0};
      const std::vector<TrainingSample> packed{
          apar_sample(lay_out(prompt, tree, control, ends), static_cast<int>(prompt.size()))};
      const auto threads = apar_threads(prompt, tree, control, ends);
      REQUIRE(threads.size() == 6);
      INFO(family << " round " << round);
      // Means over the same targets, each within the rounding of a logit in double.
      CHECK(std::abs(trainer.loss(batch_of(packed)) - trainer.loss(batch_of(threads))) < 1e-9);
    }
  }
}

namespace {

/// Trains the norm before the head, over a frozen network, and writes the network with it.
class FinalNorm final : public Trainable {
 public:
  explicit FinalNorm(const ModelConfig& config)
      : Trainable(config), whole_(whole_network(config)) {}

  std::vector<Parameter> parameters() const override {
    for (const Parameter& parameter : whole_->parameters())
      if (parameter.name == kName) return {parameter};
    return {};
  }
  at::Tensor begin(const Parameter& parameter,
                   const std::map<std::string, at::Tensor>& weights) const override {
    return weights.at(parameter.name).clone();
  }
  std::unique_ptr<Model::Network> network(
      const std::map<std::string, at::Tensor>& weights) const override {
    return whole_->network(weights);
  }
  std::vector<Loss> losses() const override { return whole_->losses(); }
  std::vector<RowTargets> targets(const TrainingSample& sample) const override {
    return whole_->targets(sample);
  }
  at::Tensor logits(const Model::Network& network, size_t loss,
                    const at::Tensor& head_inputs) const override {
    return whole_->logits(network, loss, head_inputs);
  }
  std::string file(const std::string& tensor) const override { return whole_->file(tensor); }
  bool beside_network() const override { return false; }
  std::vector<std::pair<std::string, at::Tensor>> exported(
      const std::map<std::string, at::Tensor>& weights,
      std::vector<std::pair<std::string, at::Tensor>> masters) const override {
    std::vector<std::pair<std::string, at::Tensor>> all;
    for (const Parameter& parameter : whole_->parameters())
      all.emplace_back(parameter.name, parameter.name == kName ? masters.front().second
                                                               : weights.at(parameter.name));
    return all;
  }
  OrderedJson settings() const override { return {{"part", "norm"}}; }

  static constexpr const char* kName = "model.norm.weight";

 private:
  std::unique_ptr<Trainable> whole_;
};

}  // namespace

TEST_CASE("a part is trained over a frozen network, and the network is written with it") {
  set_threads(1);
  TinyNetwork tiny("llama", 9);
  const Model model = tiny.load(Dtype::fp64);
  Rng rng(13);
  const auto samples = samples_of(model.config().vocab_size, rng);
  const FinalNorm what(model.config());
  const auto begun = weights_of(model);
  const TrainerOptions options{.dtype = Dtype::fp64, .clip = 0};
  Trainer trainer(what, weights_of(model), options);
  REQUIRE(trainer.optimiser().slots().size() == 1);

  // Its gradient equals the one in the whole network.
  Trainer::Report report;
  const at::Tensor gradient = trainer.gradients(batch_of(samples), report).front();
  const auto all = whole_network(model.config());
  Trainer everything(*all, weights_of(model), options);
  const auto gradients = everything.gradients(batch_of(samples), report);
  size_t norm = 0;
  while (everything.optimiser().slots()[norm].name != FinalNorm::kName) ++norm;
  CHECK(at::equal(gradient, gradients[norm]));

  const double before = trainer.loss(batch_of(samples));
  for (int step = 0; step < 20; ++step) trainer.step(batch_of(samples), 3e-2);
  CHECK(trainer.loss(batch_of(samples)) < before);
  std::map<std::string, at::Tensor> written;
  for (const auto& [name, weight] : trainer.exported()) {
    CHECK(at::equal(weight, begun.at(name)) == (name != FinalNorm::kName));
    written.emplace(name, weight);
  }
  REQUIRE(written.size() == begun.size());
  Trainer again(*all, written, options);
  CHECK(again.loss(batch_of(samples)) == trainer.loss(batch_of(samples)));
}
