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

/// What the run starts from: a config.json, or a folder with weights.
struct TrainingStart {
  Json config;
  ModelConfig parsed;
  std::filesystem::path tokenizer;
  std::optional<std::filesystem::path> weights;
};
/// ModelError, ConfigError.
TrainingStart read_start(const TrainingSpec& spec);

/// What it learns from.
struct TrainingData {
  /// By their share of --unannotated and the wording that `run` takes, which is not chosen here.
  std::vector<TrainingExamples> examples;
  OrderedJson files = OrderedJson::array();
  /// By dataset, where a run's answers are learned.
  std::vector<std::pair<std::string, OwnAnswerCount>> own_answers;
};
/// ConfigError where a dataset cannot be trained on, or no example is left.
TrainingData read_data(const TrainingSpec& spec);

}  // namespace pardec
