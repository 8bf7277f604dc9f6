#pragma once
#include <cstdint>
#include <filesystem>

#include "src/training/trainer.hpp"

namespace pardec {

/// The progress of a training run. Together with the weights, the moments and the settings, it
/// determines the rest of the run, because everything random depends on the seed and on the numbers
/// of the epoch and the update.
struct TrainingState {
  std::int64_t step = 0;      ///< number of updates so far
  std::int64_t epoch = 0;     ///< current epoch, from 0
  std::int64_t position = 0;  ///< number of samples of this epoch that were used
  std::int64_t tokens = 0;    ///< number of tokens in all updates
  double seconds = 0;         ///< training time over all sessions
};

// state.safetensors contains `weight.NAME`, `first.NAME` and `second.NAME` for each trained weight,
// in the type of the master weights, and `state` [step, epoch, position, tokens, seconds] in
// float64. Since it is a single file, a checkpoint is either complete or absent.

/// Writes a checkpoint of the run: to `file.tmp`, which is synced and renamed to `file`. RunError:
/// writing fails.
void save_state(const std::filesystem::path& file, const Trainer& trainer,
                const TrainingState& state);

/// Reads a checkpoint of the run: sets the trainer's weights, moments and number of updates, in all
/// processes of its group, and returns the progress. Only rank 0 reads the file, and only rank 0
/// throws ModelError: the file is missing or invalid, or belongs to another network. RunError:
/// another process of the group does not answer.
TrainingState load_state(const std::filesystem::path& file, Trainer& trainer);

/// Writes the tensors of Trainer::exported, in bf16, to their files in `folder`. If the network
/// itself was trained, the file is a model.safetensors in Hugging Face's format. RunError: writing
/// fails. REQUIRES: `folder` exists.
void export_weights(const std::filesystem::path& folder, const Trainer& trainer);

}  // namespace pardec
