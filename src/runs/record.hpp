#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/scoring/task_metrics.hpp"
#include "src/store/store.hpp"

/// Turns what decoders and datasets say into the store's plain rows.
namespace pardec {

/// Hash of a checkpoint's files; the stored one while path, sizes and times are unchanged.
ModelRow model_row(Store& store, const Checkpoint& checkpoint);
/// What two tokenizers share whose ids stand for the same tokens, special ones apart: networks have
/// control tokens of their own.
std::string hash_of_ids(const Tokenizer& tokenizer);

/// The machine as far as it can be read: processor, cores, memory, governor, kernel, libtorch,
/// compiler.
Json environment_json();

/// A finished job, and its answers with their scores by `metrics`; none: they are not scored, as
/// under an oracle. `tokenizer` tells how many ids a thought has; null: nobody asks.
JobRow job_row(const JobKey& key, const Answers& answers);
std::vector<GenerationRow> generation_rows(
    const std::vector<const Example*>& examples, const Answers& answers,
    const std::optional<std::vector<const TaskMetric*>>& metrics, const Tokenizer* tokenizer);

/// A job that failed as a whole: its rows carry the reason, and the scores of wrong answers.
std::vector<GenerationRow> failed_rows(
    const std::vector<const Example*>& examples, const std::string& error,
    const std::optional<std::vector<const TaskMetric*>>& metrics);

}  // namespace pardec
