#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/store/store.hpp"

/// Turns what decoders and datasets say into the store's plain rows.
namespace pardec {

/// Hash of a checkpoint's files; the stored one while path, sizes and times are unchanged.
ModelRow model_row(Store& store, const std::filesystem::path& folder, const ModelConfig& config);
DatasetRow dataset_row(const Dataset& dataset);
std::vector<SampleRow> sample_rows(const std::vector<Example>& examples);

/// The machine as far as it can be read: processor, cores, memory, governor, kernel, libtorch,
/// compiler.
Json environment_json();

/// A finished job. `scored`: value scores go with it (never under an oracle).
JobRow job_row(const std::string& key, const Answers& answers);
std::vector<GenerationRow> generation_rows(const std::vector<const Example*>& examples,
                                           const Answers& answers, bool scored);

/// A job that failed as a whole: its rows carry the reason.
std::vector<GenerationRow> failed_rows(const std::vector<const Example*>& examples,
                                       const std::string& error);

/// Value scores of one answered example: for each field what it counts as (ExtractGPT's five
/// letters), and the example's own F1, by ExtractGPT's count and by the strict one.
std::vector<ScoreRow> value_scores(const Example& example, const std::vector<FieldResult>& fields);

}  // namespace pardec
