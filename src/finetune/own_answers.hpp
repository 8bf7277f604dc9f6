#pragma once
#include <cstdint>
#include <string>

#include "datasets/dataset.hpp"
#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// Answers that a run stored, to be learned in place of a dataset's own: what a network says itself
/// is what its extra heads, drafts and masks have to guess (self-distillation).
struct OwnAnswers {
  std::string db = "results/pardec.sqlite";
  std::string run, arm;     ///< name of an invocation, or how its id begins; label
  std::int64_t least = 1;   ///< ids of an answer at least
  std::int64_t most = 0;    ///< ids of an answer at most; 0: any number
  double repetition = 0.3;  ///< sequence_repetition at most
  bool cut = false;  ///< also open answers that were cut at a limit; their end is not learned

  bool there() const { return !run.empty(); }
};

/// Share of the 4-grams of an answer that stood in it before (seq-rep-4 of Welleck et al. 2020,
/// section 4.1); 0 of fewer than four ids.
double sequence_repetition(const Tokens& ids);

/// What became of a dataset's examples.
struct OwnAnswerCount {
  std::int64_t kept = 0;
  std::int64_t cut = 0;         ///< of these, cut at a limit
  std::int64_t absent = 0;      ///< the run has no answer, or one with an error
  std::int64_t unfinished = 0;  ///< cut at a limit, and not to be learned
  std::int64_t length = 0;      ///< shorter or longer than was asked for
  std::int64_t repeated = 0;    ///< loops

  std::int64_t left_out() const { return absent + unfinished + length + repeated; }
  OrderedJson json() const;
};

/// Replaces the references of `dataset` by the first answers of the run to the same examples, and
/// takes out of it the examples that have no good one. ConfigError: no such run, several arms and
/// none named, another dataset, split or files than the run's, or answers that an oracle forced.
OwnAnswerCount answer_by_run(Dataset& dataset, const OwnAnswers& from);

}  // namespace pardec
