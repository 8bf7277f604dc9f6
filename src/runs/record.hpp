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

/// A row with the hash of a checkpoint's files; the stored hash is used while path, sizes and times
/// are unchanged.
ModelRow model_row(Store& store, const Checkpoint& checkpoint);
/// A hash that is equal for tokenizers whose ids mean the same tokens. Special tokens are ignored,
/// since networks have their own control tokens.
std::string hash_of_ids(const Tokenizer& tokenizer);

/// The machine, as far as it can be determined: processor, cores, memory, governor, kernel,
/// libtorch, compiler; and of a GPU: its name and memory, driver, CUDA, and the roofline by
/// experiments/hardware for the type in which it computes.
Json environment_json(const std::string& device, Dtype dtype);

/// The same, of known facts about the GPU; none: no GPU is used.
Json environment_json(const std::optional<GpuFacts>& gpu, Dtype dtype);

/// The name of this machine.
std::string host_name();

/// The rows of a finished job and of its answers. `metrics`: computes the answers' scores; none:
/// the answers are not scored, e.g. under an oracle. `tokenizer`: counts the ids of thoughts; null:
/// the counts are 0.
JobRow job_row(const JobKey& key, const Answers& answers);
std::vector<GenerationRow> generation_rows(
    const std::vector<const Example*>& examples, const Answers& answers,
    const std::optional<std::vector<const TaskMetric*>>& metrics, const Tokenizer* tokenizer);

/// The rows of a job that failed as a whole, with the reason and the scores of wrong answers.
std::vector<GenerationRow> failed_rows(
    const std::vector<const Example*>& examples, const std::string& error,
    const std::optional<std::vector<const TaskMetric*>>& metrics);

}  // namespace pardec
