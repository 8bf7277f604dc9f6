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

/// The judge who gave the verdicts of an arm's judged score, and how many of the arm's items
/// (values, turns or pairs) have a verdict. Some items may be in `of` and in none of the other
/// counts: items that were not judged, items of failed answers, and items with a label that has no
/// number.
struct JudgedShare {
  std::string dataset, arm;
  /// The service that judged last. For pairs, the protocol includes the baseline.
  std::string judge, protocol;
  std::vector<std::string> others;  ///< other judges of the arm, including people
  std::string_view total;           ///< the metric's first total
  std::int64_t scored = 0, refused = 0, unscored = 0, errors = 0;
  std::int64_t of = 0;  ///< all items, including failed answers
};

/// One entry for each judged metric with scores for this run.
std::vector<JudgedShare> judged_shares(Store& store, const RunFigures& run,
                                       const ScoreTable& scores);

/// A name for each id. Equal names of different records are numbered: "gpt-4.1", "gpt-4.1 (2)".
std::map<RowId, std::string> names_of(const std::map<RowId, NamedRecord>& records);

}  // namespace pardec
