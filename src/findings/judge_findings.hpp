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

/// Number of verdicts by state. Counts values, turns or pairs, each classified by all of its votes.
struct VerdictCounts {
  std::int64_t scored = 0, refused = 0, unscored = 0, errors = 0;

  std::int64_t all() const { return scored + refused + unscored + errors; }
};

/// Agreement between several votes of one judge on the same item.
struct VoteAgreement {
  std::int64_t votes = 1;  ///< the largest number of votes on one item
  double flips, fleiss, alpha;
};

/// Verdicts of one judge on one arm under one protocol. For pairs, the arm is the method.
struct JudgedArm {
  DatasetRow dataset;
  std::string arm, protocol, judge;
  std::string baseline;                ///< for pairs
  VerdictCounts votes;                 ///< every vote; for pairs, in each order
  std::int64_t items = 0, scored = 0;  ///< values, turns or pairs; those with a verdict
  std::int64_t equal = 0;  ///< pairs of equal answers, which are ties without asking the judge
  Interval score;          ///< mean grade, F1 or win rate, over scored items
  std::map<std::string, std::int64_t> classes;  ///< how often each label was given
  std::optional<JudgeCounts> rates;             ///< for labels of five classes
  std::optional<Outcomes> outcomes;             ///< for pairs
  std::optional<PositionBias> bias;
  std::optional<Interval> length_adjusted;  ///< win rate adjusted to equal lengths, in characters
  VoteAgreement agreement;
};

/// Agreement between two judges on the same items of one dataset and protocol, over all arms.
struct JudgesAgreement {
  DatasetRow dataset;
  std::string protocol, first, second;
  std::int64_t items = 0;
  double agreement, kappa;   ///< for labels; grades agree if they are equal
  std::int64_t decided = 0;  ///< for pairs: those on which neither judge says tie
  double decided_agreement = 0;
};

/// Arms of a dataset that one judge compared in pairs.
struct ArmStrengths {
  DatasetRow dataset;
  std::string protocol, judge;
  std::vector<std::string> arms;
  std::vector<Interval> strengths;  ///< Bradley-Terry strengths, as natural logarithms
};

/// Why votes of one judge on one arm ended without a verdict.
struct WithoutVerdict {
  DatasetRow dataset;
  std::string arm, protocol, judge;
  std::optional<VoteState> state;  ///< none: several states
  std::string reason;              ///< for a refusal, its text
  std::int64_t votes = 0;
};
/// The number of reasons shown separately for each judge and arm; the last entry combines all
/// others.
inline constexpr std::size_t kMostReasons = 6;

struct JudgeFindings {
  std::vector<JudgedArm> arms;
  std::vector<WithoutVerdict> without;  ///< by arm, the most frequent reason first
  std::vector<JudgedShare> compared;    ///< the shares that `compare`, `report` and claims show
  std::vector<JudgesAgreement> judges;  ///< people first
  std::vector<ArmStrengths> strengths;  ///< for groups of at least three arms
};

/// Findings about the runs of an invocation and of its shards. Judges with the same name, and
/// protocols with the same name, are numbered ("gpt-4.1 (2)") if their records differ.
JudgeFindings judge_findings(Store& store, const std::string& invocation, double confidence);

}  // namespace pardec
