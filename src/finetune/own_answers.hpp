#pragma once
#include <cstdint>
#include <string>

#include "datasets/dataset.hpp"
#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// Stored answers of a run, used for training instead of a dataset's own. Extra heads, drafts and
/// masks must guess the network's own text (self-distillation).
struct OwnAnswers {
  std::string db = "results/pardec.sqlite";
  std::string run, arm;     ///< `run`: name of an invocation or a prefix of its id; `arm`: label
  std::int64_t least = 1;   ///< minimum number of ids of an answer
  std::int64_t most = 0;    ///< maximum number of ids of an answer; 0: no limit
  double repetition = 0.3;  ///< maximum sequence_repetition
  bool cut = false;  ///< includes open answers that were cut at a limit, without training their end

  bool there() const { return !run.empty(); }
};

/// Share of the 4-grams of an answer that occurred earlier in it (seq-rep-4 of Welleck et al. 2020,
/// section 4.1); 0 for fewer than four ids.
double sequence_repetition(const Tokens& ids);

/// Numbers of a dataset's examples by outcome.
struct OwnAnswerCount {
  std::int64_t kept = 0;
  std::int64_t cut = 0;         ///< kept ones that were cut at a limit
  std::int64_t absent = 0;      ///< the run has no answer, or one with an error
  std::int64_t unfinished = 0;  ///< cut at a limit, and not included
  std::int64_t length = 0;      ///< shorter or longer than requested
  std::int64_t repeated = 0;    ///< too repetitive

  std::int64_t left_out() const { return absent + unfinished + length + repeated; }
  OrderedJson json() const;
};

/// Replaces the references of `dataset` by the run's first answers to the same examples, and
/// removes examples without a suitable answer. ConfigError: there is no such run; it has several
/// arms and none is named; its dataset, split or files differ; or an oracle forced its answers.
OwnAnswerCount answer_by_run(Dataset& dataset, const OwnAnswers& from);

}  // namespace pardec
