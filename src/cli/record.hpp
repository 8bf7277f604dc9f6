#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/cli/scoring.hpp"
#include "src/store/store.hpp"

/// Turns what decoders and datasets say into the store's plain rows.
namespace pardec {

/// Hash of a checkpoint's files; the stored one while path, sizes and times are unchanged.
ModelRow model_row(Store& store, const std::filesystem::path& folder, const ModelConfig& config);
/// The split of a stand-in is stored with that word behind it.
DatasetRow dataset_row(const Dataset& dataset);
bool is_standin(const DatasetRow& dataset);

/// A dataset's name in a table, which says so where it is not the publisher's data.
std::string shown_name(const Dataset& dataset);
std::string shown_name(const DatasetRow& dataset);
/// What these marks mean, for the notes of a table.
inline constexpr const char* kSampleNote =
    "own sample: the project's small sample, not the publisher's data.";
inline constexpr const char* kStandinMark =
    "stand-in: generated words of the published lengths; speed alone can be read from it.";
std::vector<SampleRow> sample_rows(const std::vector<Example>& examples);

/// The machine as far as it can be read: processor, cores, memory, governor, kernel, libtorch,
/// compiler.
Json environment_json();

/// A finished job, and its answers with their scores by `metrics`; none: they are not scored, as
/// under an oracle.
JobRow job_row(const JobKey& key, const Answers& answers);
std::vector<GenerationRow> generation_rows(
    const std::vector<const Example*>& examples, const Answers& answers,
    const std::optional<std::vector<const TaskMetric*>>& metrics);

/// A job that failed as a whole: its rows carry the reason.
std::vector<GenerationRow> failed_rows(const std::vector<const Example*>& examples,
                                       const std::string& error);

}  // namespace pardec
