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

/// What judges said of stored answers, and how far they can be believed.
namespace pardec {

/// How many verdicts ended how; of values, turns or pairs, each by all of its votes.
struct VerdictCounts {
  std::int64_t scored = 0, refused = 0, unscored = 0, errors = 0;

  std::int64_t all() const { return scored + refused + unscored + errors; }
};

/// Several votes of one judge on the same things.
struct VoteAgreement {
  std::int64_t votes = 1;  ///< the most that one thing has
  double flips, fleiss, alpha;
};

/// What one judge said of one arm by one protocol; of pairs the arm is the method.
struct JudgedArm {
  DatasetRow dataset;
  std::string arm, protocol, judge;
  std::string baseline;                ///< of pairs
  VerdictCounts votes;                 ///< every vote, and of pairs every order
  std::int64_t items = 0, scored = 0;  ///< values, turns or pairs, and those with a verdict
  std::int64_t equal = 0;              ///< pairs of equal answers: ties that nobody was asked about
  Interval score;                      ///< mean grade, F1 or win rate, over those
  std::map<std::string, std::int64_t> classes;  ///< how often each label was given
  std::optional<JudgeCounts> rates;             ///< of five classes
  std::optional<Outcomes> outcomes;             ///< of pairs
  std::optional<PositionBias> bias;
  std::optional<Interval> length_adjusted;  ///< win rate at equal lengths, in characters
  VoteAgreement agreement;
};

/// Two judges on the same things of one dataset and protocol, over all arms.
struct JudgesAgreement {
  DatasetRow dataset;
  std::string protocol, first, second;
  std::int64_t items = 0;
  double agreement, kappa;   ///< of labels; grades agree where they are equal
  std::int64_t decided = 0;  ///< of pairs: those of which neither says tie
  double decided_agreement = 0;
};

/// Arms of a dataset that one judge compared in pairs.
struct ArmStrengths {
  DatasetRow dataset;
  std::string protocol, judge;
  std::vector<std::string> arms;
  std::vector<Interval> strengths;  ///< Bradley-Terry, as natural logarithms
};

/// Why votes of one judge on one arm ended without a verdict.
struct WithoutVerdict {
  DatasetRow dataset;
  std::string arm, protocol, judge;
  std::optional<VoteState> state;  ///< none: of several
  std::string reason;              ///< of a refusal it has its words
  std::int64_t votes = 0;
};
/// Of one judge on one arm so many reasons are told apart; the last one stands for all others.
inline constexpr std::size_t kMostReasons = 6;

struct JudgeFindings {
  std::vector<JudgedArm> arms;
  std::vector<WithoutVerdict> without;  ///< arm by arm, the most frequent reason first
  std::vector<JudgedShare> compared;    ///< what `compare`, `report` and claims show of it
  std::vector<JudgesAgreement> judges;  ///< people first
  std::vector<ArmStrengths> strengths;  ///< of three arms or more
};

/// Of the runs of an invocation and its shards. Judges of one name and protocols of one name are
/// told apart by number ("gpt-4.1 (2)"), where they differ in anything else.
JudgeFindings judge_findings(Store& store, const std::string& invocation, double confidence);

}  // namespace pardec
