#pragma once
#include <functional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/prompt/job.hpp"
#include "src/prompt/prompt_file.hpp"

namespace pardec {

/// How the questions of a dataset are asked. Worked examples and the limit apply to fields that are
/// asked one by one.
struct Protocol {
  PromptFile prompt;
  std::vector<Shot> shots;
  /// maximum number of ids of an answer if no flag sets one; 0: the usual limit
  int answer_ids = 0;
  /// maximum number of ids of any answer on this dataset. Takes precedence over flags for all
  /// datasets; 0: not set
  int most_ids = 0;
};

/// The examples of `train` shown in prompts. They are the same for equal files, whatever the run's
/// seed. ConfigError: there are not enough examples with an answer.
std::vector<Example> examples_shown(const Dataset& train, int count);

/// One question of each example, with its first accepted answer. The choice depends only on the
/// example's id.
std::vector<Shot> make_shots(const std::vector<Example>& shown);

/// A hash of worked examples, for the record of a run.
std::string hash_of(const std::vector<Shot>& shots);

/// The default protocol of a dataset. `train` reads its train split. If that has too few examples,
/// there are no worked examples, and a note says so.
Protocol default_protocol(const DatasetEntry& entry, const Dataset& dataset,
                          const std::function<Dataset()>& train, std::vector<std::string>& notes);

}  // namespace pardec
