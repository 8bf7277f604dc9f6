#pragma once
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "src/model/torch.hpp"
#include "src/support/rng.hpp"
#include "src/training/trainer.hpp"
#include "tests/support/catch.hpp"

namespace pardec::test {

inline std::vector<const TrainingSample*> batch_of(const std::vector<TrainingSample>& samples) {
  std::vector<const TrainingSample*> all;
  for (const auto& sample : samples) all.push_back(&sample);
  return all;
}

/// Compares three random elements of each gradient with central differences of the loss over
/// `batch`. `gradients`: from Trainer::gradients for this batch. `of`: a name for messages.
/// REQUIRES: a trainer in fp64.
inline void check_gradients(Trainer& trainer, std::span<const TrainingSample* const> batch,
                            const std::vector<at::Tensor>& gradients, Rng& rng,
                            const std::string& of) {
  for (size_t i = 0; i < gradients.size(); ++i) {
    const AdamW::Slot& slot = trainer.optimiser().slots()[i];
    double* value = slot.weight.data_ptr<double>();
    for (int sample = 0; sample < 3; ++sample) {
      const auto at =
          static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(slot.weight.numel())));
      const double old = value[at], step = 1e-5;
      const auto loss_at = [&](double x) {
        value[at] = x;
        trainer.refresh();
        return trainer.loss(batch);
      };
      const double numeric = (loss_at(old + step) - loss_at(old - step)) / (2 * step);
      loss_at(old);
      const double exact = gradients[i].contiguous().data_ptr<double>()[at];
      INFO(of << " " << slot.name << " element " << at << ": " << exact << " against " << numeric);
      // The tolerance covers the rounding of the loss (8 * 2^-53 / 1e-5) and the third derivative.
      CHECK(std::abs(numeric - exact) <= 1e-7 * std::max(1.0, std::abs(exact)));
    }
  }
}

}  // namespace pardec::test
