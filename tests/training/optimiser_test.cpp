// The learning rate over a run, and clipping. AdamW itself: adamw_oracle_test.py.
#include <cmath>

#include "src/training/adamw.hpp"
#include "src/training/schedule.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("the learning rate rises linearly and falls as half a cosine") {
  const Schedule schedule{.peak = 2.0, .floor = 0.1, .warmup = 4, .steps = 12};
  const double expected[] = {0.5, 1.0, 1.5, 2.0, 2.0};
  for (int step = 0; step < 5; ++step)
    CHECK(std::abs(schedule.rate(step) - expected[step]) <= 1e-12);
  CHECK(std::abs(schedule.rate(8) - 2.0 * (0.1 + 0.9 * 0.5)) <= 1e-12);  // half-way
  CHECK(std::abs(schedule.rate(6) - 2.0 * (0.1 + 0.9 * (1 + std::sqrt(0.5)) / 2)) <= 1e-12);
  CHECK(std::abs(schedule.rate(12) - 0.2) <= 1e-12);
  CHECK(schedule.rate(11) > 0.2);
  CHECK(Schedule{.peak = 1, .warmup = 0, .steps = 1}.rate(0) == 1.0);
}

TEST_CASE("gradients are clipped by their common norm") {
  const auto made = [] {
    return std::vector<at::Tensor>{at::tensor(std::vector<double>{3, 0}, at::kDouble),
                                   at::tensor(std::vector<double>{0, 4}, at::kDouble)};
  };
  std::vector<at::Tensor> gradients = made();
  CHECK(clip_by_global_norm(gradients, 1.0) == 5.0);
  // torch.nn.utils.clip_grad_norm_ divides by the norm plus 1e-6.
  CHECK(std::abs(gradients[0][0].item<double>() - 3 / 5.000001) <= 1e-15);
  CHECK(std::abs(gradients[1][1].item<double>() - 4 / 5.000001) <= 1e-15);
  for (const double limit : {10.0, 0.0}) {
    gradients = made();
    CHECK(clip_by_global_norm(gradients, limit) == 5.0);
    CHECK(gradients[0][0].item<double>() == 3.0);
  }
}

TEST_CASE("matrices decay; norms, biases and the embedding do not") {
  const auto weight = [](std::vector<std::int64_t> shape) { return at::ones(shape, at::kDouble); };
  std::vector<AdamW::Master> masters;
  for (const Parameter& parameter : std::vector<Parameter>{{"embedding", {2, 2}, Role::embedding},
                                                           {"up", {2, 2}, Role::up, 0},
                                                           {"up's bias", {2}, Role::up, 0, true},
                                                           {"norm", {2}, Role::final_norm}})
    masters.push_back({parameter.name, weight(parameter.shape), decays(parameter)});
  AdamW optimiser(masters, {.weight_decay = 0.5});
  std::vector<at::Tensor> zeros;
  for (const auto& slot : optimiser.slots()) zeros.push_back(at::zeros_like(slot.weight));
  optimiser.step(zeros, 0.1);
  const double expected[] = {1.0, 0.95, 1.0, 1.0};
  for (size_t i = 0; i < 4; ++i)
    CHECK(std::abs(optimiser.slots()[i].weight.sum().item<double>() /
                       static_cast<double>(optimiser.slots()[i].weight.numel()) -
                   expected[i]) <= 1e-12);
}
