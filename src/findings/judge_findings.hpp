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

/// Numbers of votes by their state (VoteState).
struct VerdictCounts {
  std::int64_t scored = 0, refused = 0, unscored = 0, errors = 0;

  std::int64_t all() const { return scored + refused + unscored + errors; }
};

/// The agreement between the votes of one judge on the same item: flip_rate, Fleiss' kappa and
/// Krippendorff's alpha (metrics/agreement.hpp). All three are NaN if no item has two votes; kappa
/// and alpha also if all votes have the same label.
struct VoteAgreement {
  /// the largest number of votes on one item; for pairs, the two orders together are one vote
  std::int64_t votes = 1;
  double flips, fleiss, alpha;
};

/// The verdicts of one judge on one arm under one protocol. For pairs, this arm is compared with
/// `baseline`.
struct JudgedArm {
  DatasetRow dataset;
  std::string arm, protocol, judge;
  std::string baseline;  ///< for pairs; otherwise empty
  VerdictCounts votes;   ///< a pair has votes for each of its two orders
  /// number of items (values, turns or pairs), and of items with a verdict
  std::int64_t items = 0, scored = 0;
  /// number of pairs of equal answers: ties, for which the judge is not asked
  std::int64_t equal = 0;
  /// mean grade, F1 or win rate, over scored items; the ends are NaN if these items have fewer than
  /// kFewestBlocks clusters
  Interval score;
  std::map<std::string, std::int64_t> classes;  ///< label -> number of items with this verdict
  std::optional<JudgeCounts> rates;             ///< for protocols with five labels
  std::optional<Outcomes> outcomes;             ///< for pairs
  std::optional<PositionBias> bias;             ///< for pairs that a network judged
  /// for pairs: win rate adjusted for differences in length (characters); NaN: too few clusters
  std::optional<Interval> length_adjusted;
  VoteAgreement agreement;
};

/// Agreement between two judges on the same items of one dataset and protocol, over all arms.
struct JudgesAgreement {
  DatasetRow dataset;
  std::string protocol, first, second;
  std::int64_t items = 0;  ///< number of items on which both judges have a verdict
  /// Share of items with equal verdicts (labels, grades or winners), and Cohen's kappa of the
  /// verdicts.
  double agreement, kappa;
  std::int64_t decided = 0;  ///< for pairs: number of pairs on which neither judge says tie
  /// share of the `decided` pairs with the same winner; NaN: there are no such pairs
  double decided_agreement = 0;
};

/// The strengths of a dataset's arms, from one judge's verdicts on pairs.
struct ArmStrengths {
  DatasetRow dataset;
  std::string protocol, judge;
  std::vector<std::string> arms;
  /// Bradley-Terry strengths, as natural logarithms; the ends are NaN for fewer than kFewestBlocks
  /// clusters
  std::vector<Interval> strengths;
};

/// A reason why votes of one judge on one arm ended without a verdict.
struct WithoutVerdict {
  DatasetRow dataset;
  std::string arm, protocol, judge;
  std::optional<VoteState> state;  ///< none: votes in several states (the last entry of a list)
  std::string reason;              ///< for a refusal: the text of the refusal
  std::int64_t votes = 0;
};
/// The largest number of reasons listed for a judge and an arm. If there are more reasons, the last
/// entry combines all further reasons.
inline constexpr std::size_t kMostReasons = 6;

struct JudgeFindings {
  std::vector<JudgedArm> arms;
  std::vector<WithoutVerdict> without;  ///< sorted by arm, then the most frequent reason first
  /// the judged shares that `compare`, `report` and claims also use
  std::vector<JudgedShare> compared;
  std::vector<JudgesAgreement> judges;  ///< people first
  std::vector<ArmStrengths> strengths;  ///< for groups of at least three arms
};

/// The findings about an invocation and its shards. Different judges (or protocols) with the same
/// name are numbered: "gpt-4.1", "gpt-4.1 (2)". ConfigError: there is no such invocation.
JudgeFindings judge_findings(Store& store, const std::string& invocation, double confidence);

}  // namespace pardec
