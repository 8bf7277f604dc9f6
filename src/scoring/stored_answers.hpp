#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/store/store.hpp"

/// Answers of stored runs, and how two arms' answers to the same samples compare.
namespace pardec {

/// One answer with its place in its job.
struct Answered {
  const StoredGeneration& generation;
  const JobRow* job;
  size_t context;  ///< index of the example in the job
};

/// All of a run, which may be moved: what points into it stays valid.
struct RunAnswers {
  std::vector<JobRow> jobs;
  std::vector<StoredGeneration> generations;
  std::map<std::pair<std::string, int>, Answered> by_sample;  ///< by sample and repeat
};

/// All, or those to these samples; the jobs may have others, too.
RunAnswers read_answers(Store& store, RowId run, const SampleIds& only = std::nullopt);

/// Whether an answer equals the baseline's field by field; else, where the ids of the two stand for
/// the same tokens, the first token that differs among the ids of its fields, and how close the two
/// best logits were there, where that is known.
Identity compare_fields(const Answered& baseline, const Answered& method, bool same_ids);

/// Of how many that were compared are the same.
struct Agreement {
  std::int64_t compared = 0, same = 0;

  /// NaN: nothing was compared.
  double share() const;
};

/// Under an oracle: the network's own choices that agree, over choices made after the same forced
/// ids of the same value.
void add_unforced(Agreement& agreement, const Answered& baseline, const Answered& method);

/// EM of the IPPD paper: fields whose answer is the baseline's, where both were asked one by one.
/// Id by id, the end of sequence apart: a little stricter than its decoded strings.
void add_exact(Agreement& agreement, const Answered& baseline, const Answered& method);

/// Over all answers to `samples` that both runs have.
Agreement agreement_of(Store& store, RowId baseline, RowId method,
                       const std::vector<RowId>& samples,
                       void (*add)(Agreement&, const Answered&, const Answered&));

}  // namespace pardec
