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

/// The row of a checkpoint, with the hash of its files. The hash that `store` has is reused if
/// path, sizes and times of the files are unchanged. Null: there is no store.
ModelRow model_row(Store* store, const Checkpoint& checkpoint);
/// A hash that is equal for tokenizers in which equal ids mean equal tokens. Special tokens are
/// ignored, because they include the control tokens that training adds.
std::string hash_of_ids(const Tokenizer& tokenizer);

/// A description of the machine, as far as it is known: processor, cores, memory, governor, kernel,
/// libtorch, compiler. For a GPU: name, memory, driver, CUDA, and the roofline from
/// experiments/hardware for `dtype`.
Json environment_json(const std::string& device, Dtype dtype);

/// The description of this machine with the given facts about its GPU; none: no GPU is used.
Json environment_json(const std::optional<GpuFacts>& gpu, Dtype dtype);

/// The name of this machine.
std::string host_name();

/// The row of a finished job.
JobRow job_row(const JobKey& key, const Answers& answers);
/// The rows of the answers of a finished job, one per example. `metrics`: the metrics that score
/// the answers, in addition to the score `parsed` (1: the answer could be parsed, otherwise 0);
/// none: the answers get no scores, e.g. under an oracle. `tokenizer`: counts thinking tokens;
/// null: thinking whose tokens the decoder did not count has 0 tokens.
std::vector<GenerationRow> generation_rows(
    const std::vector<const Example*>& examples, const Answers& answers,
    const std::optional<std::vector<const TaskMetric*>>& metrics, const Tokenizer* tokenizer);

/// The rows of the answers of a job that failed as a whole, one per example. They have the error,
/// and the scores that wrong answers get. `metrics`: see generation_rows.
std::vector<GenerationRow> failed_rows(
    const std::vector<const Example*>& examples, const std::string& error,
    const std::optional<std::vector<const TaskMetric*>>& metrics);

}  // namespace pardec
