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

/// Judges on stored answers: what has to be asked, what it comes to, and the scores that follow.
namespace pardec {

/// Who judges what, and how often.
struct JudgeTask {
  std::string invocation;
  JudgeProtocol protocol;
  NamedRecord judge;                  ///< json: all that may change what it replies
  int votes = 1;                      ///< of each answer, or of each order of two
  bool retry = false;                 ///< votes that were unscored or refused are asked for again
  std::vector<std::string> datasets;  ///< names; empty: all that the invocation has
  std::string baseline;    ///< where two answers are compared: an arm; empty: each arm's own
  std::int64_t limit = 0;  ///< examples of each dataset, drawn as `run --limit` does; 0: all
  std::int64_t max_tokens = 2048;  ///< of a reply, reasoning included
};

/// One answer, or one turn of it, before a judge; two where they are compared.
struct JudgeUnit {
  RowId run = 0, generation = 0, baseline = 0;
  std::string run_uuid, baseline_uuid, sample;  ///< what they are in any database
  int repeat = 0;
  std::string field;  ///< empty: the whole example
  Subject subject;
  /// Of two answers: a judge would be shown the same whichever came first.
  bool equal = false;
};

/// Reason of the votes on equal answers: they are ties by themselves, and nobody is asked.
inline constexpr std::string_view kEqualAnswers = "equal answers";

/// What there is to judge.
struct JudgeUnits {
  std::vector<JudgeUnit> units;
  /// Answers that no judge can be shown, by reason: they failed, their run was under an oracle, the
  /// protocol needs what they have not, the baseline has none.
  std::map<std::string, std::int64_t> left_out;
};

/// The fields that a vote on the unit has a verdict of, each a stored row; an empty one is the
/// whole example.
std::vector<std::string> verdict_fields(const JudgeProtocol& protocol, const JudgeUnit& unit);

/// All that the invocation's runs (with its shards) hold for the task. ConfigError: nothing there
/// to judge, or no such baseline.
JudgeUnits judge_units(Store& store, const JudgeTask& task);

/// The protocol whose verdicts come to this total; empty: none, or a template's.
std::string protocol_for(std::string_view total);
/// The protocol whose verdicts a dataset is scored by; empty: none, its metrics need no judge.
std::string protocol_for(const DatasetEntry& dataset);

/// How far a task is, and what is left to do.
struct JudgeProgress {
  std::int64_t votes = 0;   ///< verdicts that the task wants
  std::int64_t before = 0;  ///< of these stored before
  std::int64_t cached = 0;  ///< taken from replies to equal questions, at no cost
  std::int64_t equal = 0;   ///< ties of equal answers, which nobody is asked about
  std::int64_t scored = 0, unscored = 0, refused = 0, failed = 0;  ///< by this judging
  std::int64_t calls = 0;                                          ///< replies that came

  std::int64_t done() const { return scored + unscored + refused + failed; }
};

/// What is left to ask, as far as is known before: each call once, however many answers it is for.
/// A reply without a verdict leads to one more.
struct JudgePlan {
  JudgeProgress progress;  ///< cached: those whose reply is stored, for an equal question
  std::int64_t calls = 0;
  std::int64_t shared =
      0;                  ///< verdicts that come with another one's call, its question being equal
  chat::WorstCase worst;  ///< of all, in sum
};
JudgePlan plan_judging(Store& store, const JudgeTask& task, const JudgeUnits& units,
                       const std::function<chat::WorstCase(const chat::Call&)>& worst_case);

/// The votes of the task on pairs of equal answers: ties, in each order.
std::vector<JudgmentRow> equal_ties(const JudgeTask& task, const JudgeUnits& units, RowId judge,
                                    RowId protocol);

/// Judges what is not judged yet. Each reply is stored with its verdicts as it comes, so that a
/// killed judging goes on behind it; errors of `ask` go through, with all that came before stored.
/// Votes that ended in an error are asked for again. Stores the scores that follow, also then.
JudgeProgress judge_answers(Store& store, const JudgeTask& task, const JudgeUnits& units,
                            const AskService& ask,
                            const std::function<void(const JudgeProgress&)>& progress = {});

/// A family of networks that both names belong to, e.g. "qwen"; empty: none that is known. Judges
/// prefer their own kind.
std::string shared_family(const std::string& judge, const std::string& model);

/// What one judge said of one thing by several votes, as one: the mean of grades, the most frequent
/// label (of equally frequent ones the earlier vote's). None: no vote is scored.
std::optional<JudgeVerdict> verdict_of(const std::vector<VoteRow>& votes);

/// What one judge said of one pair of answers: for each vote both orders.
std::vector<PairVerdict> pair_verdicts(const std::vector<JudgmentRow>& rows);

/// Whether these votes are of equal answers, and so nobody's.
bool are_equal(const std::vector<JudgmentRow>& rows);

/// And as one: whom most votes prefer, a tie where as many prefer each. None: no vote is whole. A
/// person sees each pair in one order alone, and that counts (`one_order`).
std::optional<Winner> winner_of(const std::vector<JudgmentRow>& rows, bool one_order);

/// The scores that verdicts come to, for `compare`, `report` and claims of papers: judge_class,
/// judge_score, judge_preference, or judge_template. They take the place of another judge's, where
/// there are any.
void store_judged_scores(Store& store, const JudgeTask& task);

}  // namespace pardec
