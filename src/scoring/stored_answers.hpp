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

RunAnswers read_answers(Store& store, RowId run);

/// Whether an answer equals the baseline's field by field; else, where the ids of the two stand for
/// the same tokens, the first token that differs among the ids of its fields, and how close the two
/// best logits were there, where that is known.
Identity compare_fields(const Answered& baseline, const Answered& method, bool same_ids);

/// Under an oracle: share of the network's own choices that agree, over choices made after the same
/// forced ids of the same value. NaN: nothing was compared.
double unforced_agreement(const RunAnswers& baseline, const RunAnswers& method);

/// EM of the IPPD paper: share of fields whose answer is the baseline's, where both were asked one
/// by one. Id by id, the end of sequence apart: a little stricter than its decoded strings. NaN:
/// nothing was compared.
double exact_match(const RunAnswers& baseline, const RunAnswers& method);

}  // namespace pardec
