#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/store/store.hpp"

/// Answers of stored runs, and comparisons of two arms' answers to the same samples.
namespace pardec {

/// An answer with its position in its job.
struct Answered {
  const StoredGeneration& generation;
  const JobRow* job;
  size_t context;  ///< index of the example in the job
};

/// All answers of a run. Can be moved; pointers into it stay valid.
struct RunAnswers {
  std::vector<JobRow> jobs;
  std::vector<StoredGeneration> generations;
  std::map<std::pair<std::string, int>, Answered> by_sample;  ///< by sample and repeat
};

/// All answers, or those to these samples. The jobs may include answers to other samples.
RunAnswers read_answers(Store& store, RowId run, const SampleIds& only = std::nullopt);

/// Whether an answer's fields all equal the baseline's. Otherwise, if equal ids mean the same
/// tokens for both: the first token that differs among the ids of its fields, and, if known, the
/// gap between the two best logits there.
Identity compare_fields(const Answered& baseline, const Answered& method, bool same_ids);

/// The number of compared items, and of equal ones.
struct Agreement {
  std::int64_t compared = 0, same = 0;

  /// NaN: nothing was compared.
  double share() const;
};

/// For oracles: compares the network's own choices that follow the same forced ids of the same
/// value.
void add_unforced(Agreement& agreement, const Answered& baseline, const Answered& method);

/// EM of the IPPD paper: the share of fields that equal the baseline's, for fields asked one by
/// one. Compares ids except the end of sequence, which is slightly stricter than the paper's
/// comparison of decoded strings.
void add_exact(Agreement& agreement, const Answered& baseline, const Answered& method);

/// Over all answers to `samples` that both runs have.
Agreement agreement_of(Store& store, RowId baseline, RowId method,
                       const std::vector<RowId>& samples,
                       void (*add)(Agreement&, const Answered&, const Answered&));

}  // namespace pardec
