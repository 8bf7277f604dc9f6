#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/scoring/score_table.hpp"
#include "src/store/judgments.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// How one judged score of an arm was computed: from which judge's verdicts, and over how many of
/// the arm's items (answers, values, turns or pairs).
struct JudgedShare {
  std::string dataset, arm;  ///< name of the dataset, and label of the arm
  /// Names of the judge and of the protocol. For pairs, the text of the protocol also names the
  /// baseline.
  std::string judge, protocol;
  /// names of the other judges (networks or people) whose verdicts are stored for this metric;
  /// these verdicts are not in the score
  std::vector<std::string> others;
  /// name of the first score that the judged metric gives a whole run (TaskMetric::totals)
  std::string_view total;
  /// `scored`: number of items with a score. `refused`, `unscored` and `errors`: number of items
  /// without a score, by the state of the item's first vote without a verdict (VoteState).
  std::int64_t scored = 0, refused = 0, unscored = 0, errors = 0;
  /// Number of all items. Some items are in none of the other counts: items that were not judged,
  /// items of failed answers, and items whose verdict is a label without a numeric value.
  std::int64_t of = 0;
};

/// One entry for each judged metric that has stored scores for this run. `scores`: the scores of
/// the run. StoreError: the database cannot be read.
std::vector<JudgedShare> judged_shares(Store& store, const RunFigures& run,
                                       const ScoreTable& scores);

/// Id of a judge or protocol -> its name. Equal names of different records are numbered: "gpt-4.1",
/// "gpt-4.1 (2)".
std::map<RowId, std::string> names_of(const std::map<RowId, NamedRecord>& records);

}  // namespace pardec
