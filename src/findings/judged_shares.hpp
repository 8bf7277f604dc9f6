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

/// Whose verdicts a judged score of an arm is of, and how many of its values, turns or pairs have
/// one. The rest of `of` was not asked about, failed, or got a label without a number.
struct JudgedShare {
  std::string dataset, arm;
  /// Asked last, of those that are behind a service; of pairs the protocol says against whom.
  std::string judge, protocol;
  std::vector<std::string> others;  ///< further judges of the arm, people included
  std::string_view total;           ///< the metric's first one
  std::int64_t scored = 0, refused = 0, unscored = 0, errors = 0;
  std::int64_t of = 0;  ///< failed answers, too
};

/// Of each judged metric that the run's answers have scores of.
std::vector<JudgedShare> judged_shares(Store& store, const RunFigures& run,
                                       const ScoreTable& scores);

/// Names by id, numbered where several have one name: "gpt-4.1", "gpt-4.1 (2)".
std::map<RowId, std::string> names_of(const std::map<RowId, NamedRecord>& records);

}  // namespace pardec
