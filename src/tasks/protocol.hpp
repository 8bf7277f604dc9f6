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

/// How the fields of a dataset are asked: the wording, the few-shot examples and the limits.
/// Prompts in value and free form show `shots`; prompts in json form show `worked`.
struct Protocol {
  PromptFile prompt;
  std::vector<Shot> shots;  ///< few-shot examples for prompts in value and free form
  /// for fields that are asked one by one: maximum number of tokens of an answer if no flag sets
  /// it; 0: the default
  int answer_ids = 0;
  /// maximum number of tokens of any answer on this dataset (--answer-tokens), which takes
  /// precedence over --max-new-tokens and --per-field; 0: not set
  int most_ids = 0;
  /// maps each category to its few-shot examples for prompts in json form; all categories have the
  /// same number of them
  std::map<std::string, std::vector<Example>> worked = {};
};

/// Selects the `count` examples of `train` that prompts show; `count` 0: the result is empty. The
/// choice depends only on the files, not on the run's seed. ConfigError: there are not enough
/// examples with an answer.
std::vector<Example> examples_shown(const Dataset& train, int count);

/// Selects `count` examples of `train` for each category of `evaluated`, as examples_shown does.
/// The selected examples of a category have the same fields as the first evaluated example of this
/// category. ConfigError: a category does not have enough examples.
std::map<std::string, std::vector<Example>> examples_worked(const Dataset& train,
                                                            const std::vector<Example>& evaluated,
                                                            int count);

/// Makes one shot per example, from one of its fields and the first accepted answer. The choice of
/// the field depends only on the example's id. REQUIRES: each example has a field with an answer.
std::vector<Shot> make_shots(const std::vector<Example>& shown, const PromptFile& prompt);

/// For the record of a run: the number of few-shot examples in a prompt of one form, and a hash of
/// all few-shot examples for this form.
struct ShownExamples {
  std::int64_t count = 0;
  std::string hash;
};
ShownExamples shown_in(const Protocol& protocol, Form form);

/// The default protocol of a dataset. `train`: reads the dataset's train split; it is called only
/// if the dataset's prompts show examples. If `train` throws a ConfigError, or the split has too
/// few examples, the protocol has no few-shot examples, and a message is added to `notes`.
/// Protocol::worked stays empty in any case. Other errors of `train` pass through. Errors of the
/// dataset's prompt file: see load_prompt.
Protocol default_protocol(const DatasetEntry& entry, const Dataset& dataset,
                          const std::function<Dataset()>& train, std::vector<std::string>& notes);

}  // namespace pardec
