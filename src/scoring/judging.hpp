#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "judges/judge.hpp"
#include "metrics/agreement.hpp"
#include "src/asking/asking.hpp"
#include "src/store/judgments.hpp"
#include "src/store/store.hpp"

/// Judging stored answers: the requests to make, their outcomes, and the resulting scores.
namespace pardec {

/// Defines who judges what, and how often.
struct JudgeTask {
  std::string invocation;
  JudgeProtocol protocol;
  NamedRecord judge;   ///< json: everything that may affect its replies
  int votes = 1;       ///< number of votes on each answer, or on each order of a pair
  bool retry = false;  ///< ask again for votes that were unscored or refused
  std::vector<std::string> datasets;  ///< names; empty: all of the invocation
  std::string baseline;               ///< for pairs: an arm; empty: each arm's own baseline
  std::int64_t limit = 0;  ///< number of examples per dataset, drawn as by `run --limit`; 0: all
  std::int64_t max_tokens = 2048;  ///< maximum length of a reply, including reasoning
};

/// One answer, one turn of it, or a pair of answers to judge.
struct JudgeUnit {
  RowId run = 0, generation = 0, baseline = 0;
  std::string run_uuid, baseline_uuid, sample;  ///< equal in every database
  int repeat = 0;
  std::string field;  ///< empty: the whole example
  Subject subject;
  /// For pairs: the text shown to a judge is the same in both orders, so the answers count as
  /// equal.
  bool equal = false;
};

/// Reason of votes on equal answers: they are ties, and no judge is asked.
inline constexpr std::string_view kEqualAnswers = "equal answers";

/// The answers to judge.
struct JudgeUnits {
  std::vector<JudgeUnit> units;
  /// Number of answers that cannot be judged, by reason: they failed, their run had an oracle, they
  /// lack what the protocol needs, or there is no answer of the baseline.
  std::map<std::string, std::int64_t> left_out;
};

/// The fields that a vote on the unit gives verdicts for. Each verdict is stored as one row. Empty:
/// the whole example.
std::vector<std::string> verdict_fields(const JudgeProtocol& protocol, const JudgeUnit& unit);

/// All units of the task in the invocation's runs, including shards. ConfigError: there is nothing
/// to judge, or there is no such baseline.
JudgeUnits judge_units(Store& store, const JudgeTask& task);

/// The protocol whose verdicts give the score `total`, one of a metric's totals. Empty: no judge is
/// involved, or the protocol is a user's template.
std::string protocol_for(std::string_view total);
/// The protocol whose verdicts a dataset is scored by; empty: its metrics need no judge.
std::string protocol_for(const DatasetEntry& dataset);

/// Progress of a task.
struct JudgeProgress {
  std::int64_t votes = 0;   ///< number of votes in the task
  std::int64_t before = 0;  ///< votes stored earlier
  std::int64_t cached = 0;  ///< votes taken from replies to equal questions, without cost
  std::int64_t equal = 0;   ///< ties of equal answers, which need no judge
  /// votes of this judging, by result
  std::int64_t scored = 0, unscored = 0, refused = 0, failed = 0;
  std::int64_t calls = 0;  ///< number of replies received

  std::int64_t done() const { return scored + unscored + refused + failed; }
};

/// Estimates the remaining requests. Equal questions share one call. A reply without a verdict
/// leads to another call, which is not included.
struct JudgePlan {
  JudgeProgress progress;  ///< cached: votes with a stored reply to an equal question
  std::int64_t calls = 0;
  /// votes that share another vote's call, because their questions are equal
  std::int64_t shared = 0;
  chat::WorstCase worst;  ///< the sum over all calls
};
JudgePlan plan_judging(Store& store, const JudgeTask& task, const JudgeUnits& units,
                       const std::function<chat::WorstCase(const chat::Call&)>& worst_case);

/// The votes of the task on pairs of equal answers: ties, in each order.
std::vector<JudgmentRow> equal_ties(const JudgeTask& task, const JudgeUnits& units, RowId judge,
                                    RowId protocol);

/// Obtains the missing votes. Each reply is stored with its verdicts as it arrives, so that a
/// judging that was killed can be resumed. Errors of `ask` are passed on, with everything before
/// them stored. Votes that ended in an error are requested again. Finally stores the resulting
/// scores, also after an error.
JudgeProgress judge_answers(Store& store, const JudgeTask& task, const JudgeUnits& units,
                            const AskService& ask,
                            const std::function<void(const JudgeProgress&)>& progress = {});

/// A family of networks to which both names belong, e.g. "qwen"; empty: none is known. Judges
/// prefer answers of their own family.
std::string shared_family(const std::string& judge, const std::string& model);

/// Combines several votes of one judge on the same item: the mean of grades, or the most frequent
/// label (among equally frequent ones, that of the earliest vote). None: no vote is scored.
std::optional<JudgeVerdict> verdict_of(const std::vector<VoteRow>& votes);

/// The verdicts of one judge on one pair of answers: both orders of each vote.
std::vector<PairVerdict> pair_verdicts(const std::vector<JudgmentRow>& rows);

/// Whether these votes are on equal answers, so that no judge was asked.
bool are_equal(const std::vector<JudgmentRow>& rows);

/// Combines the votes of one judge on a pair: the answer preferred by most votes, or a tie if both
/// are preferred equally often. None: no vote has both orders. People see each pair in only one
/// order, which then suffices (`one_order`).
std::optional<Winner> winner_of(const std::vector<JudgmentRow>& rows, bool one_order);

/// Stores the scores computed from verdicts, for `compare`, `report` and claims of papers:
/// judge_class, judge_score, judge_preference or judge_template. They replace the scores from
/// another judge.
void store_judged_scores(Store& store, const JudgeTask& task);

}  // namespace pardec
