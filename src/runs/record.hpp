#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/model/device.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/store/store.hpp"

/// Converts results of decoders and datasets to rows of the store.
namespace pardec {

/// The row of a checkpoint. Its hash covers the names and contents of the checkpoint's files, for
/// an adapter also those of its base network. If `store` has a hash for the same path, and for
/// files with the same sizes and times, this hash is used, and the files are not read. `store`:
/// null: there is no store. DataError: a file cannot be read. ModelError: the config, the tokenizer
/// or the training record is invalid. StoreError: the database cannot be read.
ModelRow model_row(Store* store, const Checkpoint& checkpoint);
/// A hash that is equal for tokenizers in which equal ids mean equal tokens. Special tokens are
/// ignored, because they include the control tokens that training adds.
std::string hash_of_ids(const Tokenizer& tokenizer);

/// A description of the machine and the build, as far as it is known: processor, cores, memory, the
/// CPU's frequency governor and clock, operating system, libtorch, compiler and flags. For a GPU:
/// name, memory, driver, CUDA, and the roofline from experiments/hardware for `dtype`. `device`:
/// see gpu_facts. ModelError: there is no such GPU. DataError: see read_hardware.
Json environment_json(const std::string& device, Dtype dtype);

/// Like environment_json above, with the given facts about the GPU; none: no GPU is used.
Json environment_json(const std::optional<GpuFacts>& gpu, Dtype dtype);

/// The name of this machine.
std::string host_name();

/// The row of a finished job.
JobRow job_row(const JobKey& key, const Answers& answers);
/// The rows of the answers of a finished job, one per example. `metrics`: the metrics that score
/// the answers, in addition to the score `parsed` (1: the answer could be parsed, otherwise 0);
/// none: the answers get no scores, e.g. under an oracle. `tokenizer`: counts the tokens of
/// thinking if the decoder did not count them; null: 0 is stored for them. Errors: see
/// scored_example. REQUIRES: `answers` has one context per example, and no context has more fields
/// than its example.
std::vector<GenerationRow> generation_rows(
    const std::vector<const Example*>& examples, const Answers& answers,
    const std::optional<std::vector<const TaskMetric*>>& metrics, const Tokenizer* tokenizer);

/// The rows of the answers of a job that failed as a whole, one per example. They have the error,
/// and the scores that wrong answers get. `metrics`: see generation_rows.
std::vector<GenerationRow> failed_rows(
    const std::vector<const Example*>& examples, const std::string& error,
    const std::optional<std::vector<const TaskMetric*>>& metrics);

}  // namespace pardec
