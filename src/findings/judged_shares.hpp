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

/// The judge that a judged score of an arm comes from, and how many of the arm's values, turns or
/// pairs have a verdict. The rest of `of` was not asked about, failed, or got a label without a
/// number.
struct JudgedShare {
  std::string dataset, arm;
  /// The judge asked last, among judges that are services. For pairs, the protocol includes the
  /// baseline.
  std::string judge, protocol;
  std::vector<std::string> others;  ///< further judges of the arm, including people
  std::string_view total;           ///< the metric's first total
  std::int64_t scored = 0, refused = 0, unscored = 0, errors = 0;
  std::int64_t of = 0;  ///< all items, including failed answers
};

/// One share for each judged metric for which the run's answers have scores.
std::vector<JudgedShare> judged_shares(Store& store, const RunFigures& run,
                                       const ScoreTable& scores);

/// Names by id, numbered if several records have the same name: "gpt-4.1", "gpt-4.1 (2)".
std::map<RowId, std::string> names_of(const std::map<RowId, NamedRecord>& records);

}  // namespace pardec
