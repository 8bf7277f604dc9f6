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

/// The starting point of training: a config.json, or a folder with weights.
struct TrainingStart {
  Json config;
  ModelConfig parsed;
  std::filesystem::path tokenizer;
  std::optional<std::filesystem::path> weights;
};
/// ModelError, ConfigError.
TrainingStart read_start(const TrainingSpec& spec);

/// The training data.
struct TrainingData {
  /// Grouped by share of --unannotated and by the wording that `run` uses; the wording itself is
  /// not loaded here.
  std::vector<TrainingExamples> examples;
  OrderedJson files = OrderedJson::array();
  /// By dataset, if answers of a run are used.
  std::vector<std::pair<std::string, OwnAnswerCount>> own_answers;
};
/// ConfigError: a dataset cannot be used for training, or no example is left.
TrainingData read_data(const TrainingSpec& spec);

}  // namespace pardec
