#pragma once
#include <cstdint>
#include <filesystem>

#include "src/training/trainer.hpp"

namespace pardec {

/// Where a run stands. With the weights, the moments and the run's flags, this determines the rest
/// of it: the order of samples is drawn from the seed anew for each epoch, and nothing else is
/// random.
struct TrainingState {
  std::int64_t step = 0;      ///< updates done
  std::int64_t epoch = 0;     ///< from 0
  std::int64_t position = 0;  ///< samples of the epoch that were used
  std::int64_t tokens = 0;    ///< fed in all updates
  double seconds = 0;         ///< in training, over all sittings
};

// state.safetensors: float32 (float64) `weight.NAME`, `first.NAME`, `second.NAME` for each weight,
// and float64 `state` [step, epoch, position, tokens, seconds]. One file, so that it is whole or
// absent.

/// Writes to `file.tmp`, syncs and renames. RunError.
void save_state(const std::filesystem::path& file, const Trainer& trainer,
                const TrainingState& state);

/// Sets masters and moments, in all processes of the trainer's group: rank 0 alone reads.
/// ModelError where the file is not of this network.
TrainingState load_state(const std::filesystem::path& file, Trainer& trainer);

/// Trainer::exported in bf16, into its files of `folder`: where the network learned, a
/// model.safetensors as Hugging Face has it.
void export_weights(const std::filesystem::path& folder, const Trainer& trainer);

}  // namespace pardec
