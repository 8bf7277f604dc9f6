#pragma once
#include <cstdint>
#include <string>

#include "datasets/dataset.hpp"
#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// Selects stored answers of a run that replace a dataset's references in training
/// (self-distillation). This is for extra heads, draft networks and mask tokens, which must guess
/// the network's own text.
struct OwnAnswers {
  std::string db = "results/pardec.sqlite";  ///< the database of the run
  std::string run;          ///< names an invocation (find_invocation); empty: references are kept
  std::string arm;          ///< label of the arm; empty: the invocation's only arm
  std::int64_t least = 1;   ///< minimum number of tokens of an answer
  std::int64_t most = 0;    ///< maximum number of tokens of an answer; 0: no limit
  double repetition = 0.3;  ///< maximum sequence_repetition
  /// whether to use open answers that were cut at a limit; their end is not trained
  bool cut = false;

  /// Whether stored answers replace the references.
  bool there() const { return !run.empty(); }
};

/// The share of an answer's 4-grams that repeat an earlier 4-gram of the answer (seq-rep-4 of
/// Welleck et al. 2020, section 4.1). 0 for fewer than four tokens.
double sequence_repetition(const Tokens& ids);

/// How many examples of a dataset were kept or left out, and why.
struct OwnAnswerCount {
  std::int64_t kept = 0;
  std::int64_t cut = 0;  ///< kept examples with an answer that was cut at a limit
  /// examples that were left out because the run has no answer to them, or an answer with an error
  /// or with another number of fields
  std::int64_t absent = 0;
  std::int64_t unfinished = 0;  ///< examples left out because the answer was cut at a limit
  std::int64_t length = 0;      ///< examples left out because the answer is too short or too long
  std::int64_t repeated = 0;    ///< examples left out because the answer is too repetitive

  std::int64_t left_out() const { return absent + unfinished + length + repeated; }
  /// The counts as a JSON object with the names of the members as keys.
  OrderedJson json() const;
};

/// Replaces the references of `dataset` by the run's first answers (repeat 0) to the same examples,
/// and removes examples without a suitable answer. ConfigError: there is no such run or arm; the
/// run has several arms and none is named; its dataset, split or files differ; or the run had an
/// oracle. StoreError: the database cannot be read.
OwnAnswerCount answer_by_run(Dataset& dataset, const OwnAnswers& from);

}  // namespace pardec
