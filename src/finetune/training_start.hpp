#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/finetune/example_source.hpp"
#include "src/finetune/training_spec.hpp"
#include "src/model/files/config.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// The starting point of training: a config.json for a new network, or a folder with weights.
struct TrainingStart {
  Json config;
  ModelConfig parsed;
  std::filesystem::path tokenizer;
  std::optional<std::filesystem::path> weights;
};
/// Reads the starting point. ModelError, ConfigError: it is missing or invalid.
TrainingStart read_start(const TrainingSpec& spec);

/// The training data.
struct TrainingData {
  /// One entry for each combination of wording and share of --unannotated. The wordings themselves
  /// are not loaded yet.
  std::vector<TrainingExamples> examples;
  OrderedJson files = OrderedJson::array();
  /// (dataset, counts), if answers of a run are used.
  std::vector<std::pair<std::string, OwnAnswerCount>> own_answers;
};
/// Reads the data. ConfigError: a dataset cannot be used for training, or no example is left.
TrainingData read_data(const TrainingSpec& spec);

}  // namespace pardec
