#pragma once
#include <functional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/prompt/job.hpp"
#include "src/prompt/prompt_file.hpp"

namespace pardec {

/// How a dataset is asked. Worked examples and limit are for fields that are asked one by one.
struct Protocol {
  PromptFile prompt;
  std::vector<Shot> shots;
  int answer_ids = 0;  ///< ids of an answer at most, where no flag says how many; 0: as elsewhere
  int most_ids = 0;  ///< ids of any answer at most, whatever flags say of all datasets; 0: as they
                     ///< say
};

/// Examples of `train` that a prompt shows: the same for equal files, whatever the run's seed.
/// ConfigError where there are not so many that have an answer.
std::vector<Example> examples_shown(const Dataset& train, int count);

/// One question of each, with its first accepted answer; which one follows from its id alone.
std::vector<Shot> make_shots(const std::vector<Example>& shown);

/// What the run keeps of its worked examples.
std::string hash_of(const std::vector<Shot>& shots);

/// How a dataset is asked where nothing else is wanted; `train` reads its train split. Where that
/// has too few examples there are no shots, and a note says so.
Protocol default_protocol(const DatasetEntry& entry, const Dataset& dataset,
                          const std::function<Dataset()>& train, std::vector<std::string>& notes);

}  // namespace pardec
