#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/store/store.hpp"

/// Reads the answers of stored runs, and compares two arms' answers to the same examples.
namespace pardec {

/// An answer, and the answer's place in the job that it belongs to.
struct Answered {
  const StoredGeneration& generation;
  const JobRow* job;
  size_t context;  ///< index of the example in the job
};

/// All answers of a run. Pointers into this object stay valid when it is moved.
struct RunAnswers {
  std::vector<JobRow> jobs;
  std::vector<StoredGeneration> generations;
  std::map<std::pair<std::string, int>, Answered> by_sample;  ///< (example key, repeat) -> answer
};

/// Reads the answers of a run. `only`: the samples (ids in table `sample`) whose answers are read;
/// their jobs may include answers to other samples. None: all answers.
RunAnswers read_answers(Store& store, RowId run, const SampleIds& only = std::nullopt);

/// Compares the texts of the fields of two answers; answers without fields are compared as a whole.
/// `same_ids`: whether equal ids mean equal tokens in both networks. If this is so and a field
/// differs, the result has the index of the first token that differs, counted over the tokens of
/// all fields of `method`. If known, the result also has the gap between the two best logits of
/// `method` at this token.
Identity compare_fields(const Answered& baseline, const Answered& method, bool same_ids);

/// The number of compared items, and of equal items.
struct Agreement {
  std::int64_t compared = 0, same = 0;

  /// same / compared; NaN if nothing was compared.
  double share() const;
};

/// For runs with an oracle: counts the tokens at which the networks of both arms choose the same
/// token by themselves. In each field, tokens are compared up to and including the first place at
/// which the two arms were forced to different tokens.
void add_unforced(Agreement& agreement, const Answered& baseline, const Answered& method);

/// Whether the answers of two fields have equal token ids, without the end of sequence. This is
/// slightly stricter than the IPPD paper's comparison of decoded strings.
bool same_tokens(const FieldAnswer& a, const FieldAnswer& b);

/// Counts the fields that both answers have, and those of them with equal tokens (same_tokens). The
/// share is the IPPD paper's EM if fields are asked one by one; the function does not check that.
/// If one of the answers failed, nothing is counted.
void add_exact(Agreement& agreement, const Answered& baseline, const Answered& method);

/// The agreement over all answers to `samples` that both runs have. `samples`: ids in table
/// `sample`. `add`: add_unforced or add_exact.
Agreement agreement_of(Store& store, RowId baseline, RowId method,
                       const std::vector<RowId>& samples,
                       void (*add)(Agreement&, const Answered&, const Answered&));

}  // namespace pardec
