#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/prompt/job.hpp"
#include "src/prompt/prompt_file.hpp"

namespace pardec {

/// How the questions of a dataset are asked. The limit applies to fields that are asked one by one.
struct Protocol {
  PromptFile prompt;
  std::vector<Shot> shots;  ///< worked examples where fields are asked one by one, or freely
  /// maximum number of ids of an answer if no flag sets one; 0: the usual limit
  int answer_ids = 0;
  /// maximum number of ids of any answer on this dataset. Takes precedence over flags for all
  /// datasets; 0: not set
  int most_ids = 0;
  /// worked examples where all fields are asked at once, by category, equally many of each
  std::map<std::string, std::vector<Example>> worked = {};
};

/// The examples of `train` shown in prompts. They are the same for equal files, whatever the run's
/// seed. ConfigError: there are not enough examples with an answer.
std::vector<Example> examples_shown(const Dataset& train, int count);

/// As examples_shown, for each category of `evaluated`. All fields of the examples of a category
/// are those of its evaluated examples. ConfigError: a category has not enough examples.
std::map<std::string, std::vector<Example>> examples_worked(const Dataset& train,
                                                            const std::vector<Example>& evaluated,
                                                            int count);

/// One question of each example, with its first accepted answer. The choice depends only on the
/// example's id.
std::vector<Shot> make_shots(const std::vector<Example>& shown, const PromptFile& prompt);

/// The number of worked examples in a prompt of this form, and a hash of all of them, for the
/// record of a run.
struct ShownExamples {
  std::int64_t count = 0;
  std::string hash;
};
ShownExamples shown_in(const Protocol& protocol, Form form);

/// The default protocol of a dataset. `train` reads its train split. If that has too few examples,
/// there are no worked examples, and a note says so.
Protocol default_protocol(const DatasetEntry& entry, const Dataset& dataset,
                          const std::function<Dataset()>& train, std::vector<std::string>& notes);

}  // namespace pardec
