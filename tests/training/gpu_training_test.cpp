// Training on a GPU: losses, gradients, updates and files against the CPU's, in fp32. Skipped where
// there is no GPU.
#include <iostream>

#include "src/model/device.hpp"
#include "src/training/training_state.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"
#include "tests/training/trainer_checks.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

std::vector<TrainingSample> samples_of(int vocab) {
  Rng rng(4);
  std::vector<TrainingSample> samples;
  for (const int length : {9, 40, 150}) {
    TrainingSample& sample = samples.emplace_back();
    const int branch = sample.segments.add({0});
    for (int i = 0; i < length; ++i) {
      sample.add(static_cast<Token>(rng.below(static_cast<std::uint64_t>(vocab))),
                 {i, i, i % 3 == 2 ? branch : 0, 0});
      sample.expect(static_cast<Token>(rng.below(static_cast<std::uint64_t>(vocab))));
    }
  }
  return samples;
}

}  // namespace

TEST_CASE("on a GPU, training has the CPU's losses, gradients and weights") {
  if (!cuda_available()) {
    std::cout << "[skipped] not done here: no CUDA\n";
    return;
  }
  TinyNetwork tiny("qwen3", 7);
  const Model model = tiny.load(Dtype::fp32);
  const auto weights = [&] {  // a copy, since a trainer's masters share memory with its weights
    std::map<std::string, at::Tensor> all;
    for (const auto& [name, weight] : model.network().named_parameters())
      all.emplace(name, weight.clone());
    return all;
  };
  AdapterShape shape{.rank = 4, .alpha = 8, .dropout = 0.1};
  shape.targets = adapter_targets(model.config());
  shape.tokens = {3, 5};
  std::vector<std::unique_ptr<Trainable>> kinds;
  kinds.push_back(whole_network(model.config()));
  kinds.push_back(low_rank_adapter(model.config(), shape, 1));
  kinds.push_back(extra_heads(model.config(), {.heads = 2, .blocks = 1},
                              low_rank_adapter(model.config(), shape, 1)));
  const auto samples = samples_of(model.config().vocab_size);
  const auto batch = batch_of(samples);
  for (const auto& what : kinds)
    for (const bool recompute : {false, true}) {
      TrainerOptions options{.micro_tokens = 60, .checkpoint_activations = recompute};
      Trainer on_cpu(*what, weights(), options);
      options.device = "cuda";
      Trainer on_gpu(*what, weights(), options);
      for (int update = 0; update < 3; ++update) {
        const Trainer::Report a = on_cpu.step(batch, 1e-2), b = on_gpu.step(batch, 1e-2);
        CHECK(std::abs(a.loss - b.loss) < 1e-4 * a.loss);
        CHECK(std::abs(a.gradient_norm - b.gradient_norm) < 1e-3 * a.gradient_norm);
      }
      const Trainer::Measure a = on_cpu.measure(batch), b = on_gpu.measure(batch);
      CHECK(std::abs(a.loss - b.loss) < 1e-3 * a.loss);
      const TemporaryFolder folder;
      const auto file = folder.path() / "state.safetensors";
      save_state(file, on_gpu, {.step = 3});
      Trainer again(*what, weights(), options);
      CHECK(load_state(file, again).step == 3);
      for (size_t i = 0; i < on_gpu.optimiser().slots().size(); ++i)
        CHECK(again.optimiser().slots()[i].weight.equal(on_gpu.optimiser().slots()[i].weight));
      CHECK(again.measure(batch).loss == on_gpu.measure(batch).loss);
      export_weights(folder.path(), again);
    }
}
