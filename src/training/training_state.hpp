#pragma once
#include <cstdint>
#include <filesystem>

#include "src/training/trainer.hpp"

namespace pardec {

/// The progress of a run. Together with the weights, the moments and the run's flags, it determines
/// the rest of the run: the order of samples is drawn from the seed for each epoch, and nothing
/// else is random.
struct TrainingState {
  std::int64_t step = 0;      ///< number of updates done
  std::int64_t epoch = 0;     ///< from 0
  std::int64_t position = 0;  ///< number of samples of the epoch that were used
  std::int64_t tokens = 0;    ///< number of tokens in all updates
  double seconds = 0;         ///< training time over all sessions
};

// state.safetensors contains `weight.NAME`, `first.NAME`, `second.NAME` for each weight, in float32
// (float64), and `state` [step, epoch, position, tokens, seconds] in float64. It is a single file,
// so that it is complete or absent.

/// Writes to `file.tmp`, syncs and renames. RunError.
void save_state(const std::filesystem::path& file, const Trainer& trainer,
                const TrainingState& state);

/// Sets masters and moments in all processes of the trainer's group; only rank 0 reads the file.
/// ModelError: the file belongs to another network.
TrainingState load_state(const std::filesystem::path& file, Trainer& trainer);

/// Writes Trainer::exported in bf16 to its files in `folder`. If the network itself was trained,
/// this is a model.safetensors in Hugging Face's format.
void export_weights(const std::filesystem::path& folder, const Trainer& trainer);

}  // namespace pardec
