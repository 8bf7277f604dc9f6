#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metrics/agreement.hpp"
#include "metrics/judge_f1.hpp"
#include "metrics/preference.hpp"
#include "metrics/statistics.hpp"
#include "src/findings/judged_shares.hpp"
#include "src/store/judgments.hpp"
#include "src/store/rows.hpp"
#include "src/store/store.hpp"

/// Summaries of judges' verdicts on stored answers, and of their reliability.
namespace pardec {

/// The number of votes in each state (VoteState).
struct VerdictCounts {
  std::int64_t scored = 0, refused = 0, unscored = 0, errors = 0;

  std::int64_t all() const { return scored + refused + unscored + errors; }
};

/// The agreement between the votes of one judge on the same item (metrics/agreement.hpp). `flips`:
/// flip_rate. `fleiss`: Fleiss' kappa. `alpha`: Krippendorff's alpha with the ordinal metric. All
/// three are NaN if no item has two votes. Kappa and alpha are also NaN if all votes have the same
/// label. Pairs of equal answers are left out.
struct VoteAgreement {
  /// the largest number of votes on one item; for pairs, the two orders together are one vote
  std::int64_t votes = 1;
  double flips, fleiss, alpha;
};

/// The verdicts of one judge on one arm under one protocol. An item is a value, a turn of an
/// answer, a whole answer, or a pair of answers of `arm` and `baseline`.
struct JudgedArm {
  DatasetRow dataset;
  std::string arm, protocol, judge;
  std::string baseline;  ///< label of the other arm of the pairs; empty: the items are not pairs
  VerdictCounts votes;   ///< a pair has votes for each of its two orders
  /// number of items with votes, and number of items with a verdict
  std::int64_t items = 0, scored = 0;
  /// number of pairs of equal answers: ties, for which the judge is not asked
  std::int64_t equal = 0;
  /// Over the items with a verdict. For pairs, this is the win rate (Outcomes). For the protocol
  /// `five-classes`, this is LLM-F1 (JudgeCounts). For all other protocols, this is the mean grade.
  /// The ends are NaN if the items belong to fewer than kFewestBlocks clusters.
  Interval score;
  std::map<std::string, std::int64_t> classes;  ///< label -> number of items with this verdict
  /// counts of the five labels; none: the protocol is not `five-classes`
  std::optional<JudgeCounts> rates;
  std::optional<Outcomes> outcomes;  ///< outcomes of the pairs; none: the items are not pairs
  /// influence of the order in which the answers of a pair were shown; none: the items are not
  /// pairs, or a person judged them
  std::optional<PositionBias> bias;
  /// win rate, adjusted for differences between the lengths of the two answers in characters
  /// (length_adjusted_win_rate); NaN: fewer than kFewestBlocks clusters; none: the items are not
  /// pairs
  std::optional<Interval> length_adjusted;
  VoteAgreement agreement;
};

/// Agreement between two judges on the same items of one dataset and protocol, over all arms. A
/// verdict is a label, a grade or the winner of a pair. If all votes on an item are whole grades,
/// their mean is rounded to a whole grade. Pairs of equal answers are left out.
struct JudgesAgreement {
  DatasetRow dataset;
  std::string protocol, first, second;  ///< first, second: names of the judges
  std::int64_t items = 0;               ///< number of items on which both judges have a verdict
  double agreement, kappa;              ///< share of `items` with equal verdicts; Cohen's kappa
  std::int64_t decided = 0;  ///< for pairs: number of pairs on which neither judge says tie
  /// share of the `decided` pairs with the same winner; NaN: there are no such pairs
  double decided_agreement = 0;
};

/// The strengths of a dataset's arms, from one judge's verdicts on pairs under one protocol.
struct ArmStrengths {
  DatasetRow dataset;
  std::string protocol, judge;
  std::vector<std::string> arms;  ///< labels
  /// for each entry of `arms`: its Bradley-Terry strength (bradley_terry), a natural logarithm; the
  /// mean of all strengths is 0; the ends are NaN if there are fewer than kFewestBlocks clusters
  std::vector<Interval> strengths;
};

/// A reason why votes of one judge on one arm ended without a verdict.
struct WithoutVerdict {
  DatasetRow dataset;
  std::string arm, protocol, judge;
  std::optional<VoteState> state;  ///< none: this entry combines several reasons (kMostReasons)
  std::string reason;              ///< as in VoteRow::reason, or "3 other reasons"
  std::int64_t votes = 0;          ///< number of votes that ended for this reason
};
/// The largest number of entries for a judge and an arm under one protocol. If there are more
/// reasons, the last entry combines all further reasons.
inline constexpr std::size_t kMostReasons = 6;

/// All findings about the verdicts on an invocation's answers.
struct JudgeFindings {
  std::vector<JudgedArm> arms;
  std::vector<WithoutVerdict> without;  ///< in the order of `arms`; the most frequent reason first
  /// judged_shares of all arms; `compare`, `report` and the tests of claims use the same values
  std::vector<JudgedShare> compared;
  /// one entry for each pair of judges that have verdicts on the same items under a protocol; if
  /// only one of the two judges is a person, the person is `first`
  std::vector<JudgesAgreement> judges;
  /// one entry for each dataset, judge and protocol with verdicts on pairs of at least three arms
  std::vector<ArmStrengths> strengths;
};

/// The findings about an invocation and the other shards of its run. `invocation`: its whole id.
/// Different judges (or protocols) with the same name are numbered: "gpt-4.1", "gpt-4.1 (2)".
/// ConfigError: there is no such invocation. StoreError: the database cannot be read.
JudgeFindings judge_findings(Store& store, const std::string& invocation, double confidence);

}  // namespace pardec
