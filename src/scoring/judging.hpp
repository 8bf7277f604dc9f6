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

/// Judging of stored answers: the requests, their outcomes, and the resulting scores.
namespace pardec {

/// What is judged, by whom, and how often.
struct JudgeTask {
  std::string invocation;
  JudgeProtocol protocol;
  NamedRecord judge;   ///< the record's json has everything that may affect the judge's replies
  int votes = 1;       ///< number of votes per answer, or per order of a pair
  bool retry = false;  ///< whether votes that were unscored or refused are requested again
  std::vector<std::string> datasets;  ///< names; empty: all datasets of the invocation
  /// For pairs: the label of the arm with which all other arms are compared. Empty: each arm is
  /// compared with its own baseline.
  std::string baseline;
  /// number of examples per dataset, selected as by `run --limit` with seed 1; 0: all
  std::int64_t limit = 0;
  std::int64_t max_tokens = 2048;  ///< maximum number of tokens of a reply, including reasoning
};

/// One item to judge: an answer, a turn of an answer, or a pair of answers.
struct JudgeUnit {
  /// ids in this database: `run` of the run, `generation` of the answer, and `baseline` of the
  /// baseline's answer (0: the unit is not a pair)
  RowId run = 0, generation = 0, baseline = 0;
  /// The uuids of the two runs (`baseline_uuid` is empty if the unit is not a pair), and the key of
  /// the example. Unlike the ids, they are the same in every database.
  std::string run_uuid, baseline_uuid, sample;
  int repeat = 0;
  std::string field;  ///< name of the judged turn's field; empty: the whole example
  Subject subject;
  /// For pairs: whether the judge would see the same text in both orders. Then the answers count as
  /// equal.
  bool equal = false;
};

/// The reason that is stored for votes on equal answers. These votes are ties, and no judge is
/// asked.
inline constexpr std::string_view kEqualAnswers = "equal answers";

/// All items to judge.
struct JudgeUnits {
  std::vector<JudgeUnit> units;
  /// Reason -> number of answers that cannot be judged. Reasons: the answer failed, the run had an
  /// oracle, the example lacks something that the protocol needs, or the baseline has no answer.
  std::map<std::string, std::int64_t> left_out;
};

/// The names of the fields that a vote on the unit judges separately. Each field has its own
/// verdict, which is stored as one row. If the unit has a single verdict, the result has one
/// element, JudgeUnit::field.
std::vector<std::string> verdict_fields(const JudgeProtocol& protocol, const JudgeUnit& unit);

/// Finds all items of the task in the invocation's runs, including the runs of all its shards.
/// ConfigError: there are no items, there is no such baseline or dataset, or a stored example lacks
/// the fields of its answer.
JudgeUnits judge_units(Store& store, const JudgeTask& task);

/// The name of the built-in protocol that gives the verdicts for `total` (a name in
/// TaskMetric::totals). Empty: the total needs no judge, or needs the user's own template.
std::string protocol_for(std::string_view total);
/// The name of the built-in protocol that a dataset's metrics need. Empty: they need no judge.
std::string protocol_for(const DatasetEntry& dataset);

/// Progress of a task.
struct JudgeProgress {
  std::int64_t votes = 0;   ///< number of votes in the task
  std::int64_t before = 0;  ///< votes that were already stored at the beginning
  /// new votes without a call of their own, because the reply to an equal question is used
  std::int64_t cached = 0;
  std::int64_t equal = 0;  ///< ties between equal answers, without a judge
  /// new votes by result (VoteState), including those in `cached`
  std::int64_t scored = 0, unscored = 0, refused = 0, failed = 0;
  std::int64_t calls = 0;  ///< number of replies received

  /// The number of new votes.
  std::int64_t done() const { return scored + unscored + refused + failed; }
};

/// An estimate of the requests that are still to be made. Equal questions share one call. The
/// additional calls after replies without a verdict are not included.
struct JudgePlan {
  JudgeProgress progress;  ///< `cached`: votes for which an equal question has a stored reply
  std::int64_t calls = 0;  ///< number of calls to make
  /// number of votes that share the call of another vote with an equal question
  std::int64_t shared = 0;
  chat::WorstCase worst;  ///< sum of `worst_case` (see plan_judging) over all calls to make
};
/// Computes the plan of a task, without storing anything. `worst_case`: computes the maximum number
/// of tokens and the maximum cost of one call.
JudgePlan plan_judging(Store& store, const JudgeTask& task, const JudgeUnits& units,
                       const std::function<chat::WorstCase(const chat::Call&)>& worst_case);

/// The votes on pairs of equal answers: for each vote and order, a tie. `judge`, `protocol`: ids of
/// the stored records (put_judge, put_protocol).
std::vector<JudgmentRow> equal_ties(const JudgeTask& task, const JudgeUnits& units, RowId judge,
                                    RowId protocol);

/// Obtains all missing votes. Votes that ended in an error are missing too; with JudgeTask::retry,
/// so are votes without a verdict. Each reply is stored with its votes as it arrives, so that
/// nothing is lost if the process is killed. At the end, the resulting scores are stored
/// (store_judged_scores), even if `ask` throws. Exceptions of `ask` pass through. `ask`: sends the
/// calls to a service. `progress`: called after each reply.
JudgeProgress judge_answers(Store& store, const JudgeTask& task, const JudgeUnits& units,
                            const AskService& ask,
                            const std::function<void(const JudgeProgress&)>& progress = {});

/// The family of networks to which both names belong, e.g. "qwen". Empty: they have no known family
/// in common. (Judges prefer answers of their own family.)
std::string shared_family(const std::string& judge, const std::string& model);

/// Combines the votes of one judge on one item: the mean of the grades (NaN if a vote has no
/// grade), and the most frequent label. Among equally frequent labels, the label with the earliest
/// vote wins. Only votes with VoteState::scored count. None: no vote has this state.
std::optional<JudgeVerdict> verdict_of(const std::vector<VoteRow>& votes);

/// Combines the two orders of each vote of one judge on one pair of answers. `rows`: one row for
/// each vote and order. The result has one entry for each vote, sorted by the number of the vote. A
/// verdict is none if its row is missing, or if the row's state is not VoteState::scored.
std::vector<PairVerdict> pair_verdicts(const std::vector<JudgmentRow>& rows);

/// Whether these are votes on equal answers (kEqualAnswers).
bool are_equal(const std::vector<JudgmentRow>& rows);

/// Combines the votes of one judge on a pair. The winner is the answer that more votes prefer; if
/// both are preferred equally often, the result is a tie. Equal answers are a tie. `one_order`:
/// whether a vote with one order counts, since people see each pair in one order only. None: no
/// vote counts.
std::optional<Winner> winner_of(const std::vector<JudgmentRow>& rows, bool one_order);

/// Computes the scores judge_class, judge_score, judge_preference or judge_template from the task's
/// verdicts, and stores the scores for `compare`, `report` and claims of papers. The new scores
/// replace scores from another judge. Does nothing if the protocol has no score, or if the task's
/// judge has given no verdict.
void store_judged_scores(Store& store, const JudgeTask& task);

}  // namespace pardec
