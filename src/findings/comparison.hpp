#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decoders/decoder.hpp"
#include "metrics/statistics.hpp"
#include "src/findings/answer_state.hpp"
#include "src/findings/judged_shares.hpp"
#include "src/findings/roofline.hpp"
#include "src/scoring/score_table.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Intervals over fewer blocks (or clusters of examples) are meaningless: with two units, half of
/// all comparisons of equal arms would show a difference.
inline constexpr std::int64_t kFewestBlocks = 6;

/// The given interval; its ends are NaN if it is computed from fewer than kFewestBlocks blocks or
/// clusters (`units`).
Interval with_ends_of(Interval interval, std::int64_t units);

/// ratio_of_totals over blocks; the ends are NaN if there are fewer than kFewestBlocks.
Interval interval_over(const std::vector<BlockPair>& blocks, double confidence);

/// Settings of a comparison.
struct CompareOptions {
  std::string baseline;  ///< label; empty: each run's own baseline
  double confidence = 0.95;
  double margin = 0.05;  ///< a score lower by at most this much is not worse
  /// Hardware, as for read_hardware. Shares of the roofline refer to the first one. The largest
  /// possible speedup is computed for all of them, from `traced`.
  std::vector<std::string> hardware;
  std::vector<TraceWork> traced;  ///< traces of the same arms, possibly from another run
};
/// ConfigError: invalid --confidence-level or --margin.
void check_compare_options(const CompareOptions& options);

/// A reason to distrust a number.
struct Warning {
  std::string code;          ///< for programs, e.g. "hit_limit"; results/table.md lists all codes
  std::string dataset, arm;  ///< empty: applies to all
  std::string found;
  std::string advice;  ///< the meaning and what to do, equal for all arms; may be empty
};

/// How many items ran in parallel, and how many were requested.
struct Reached {
  double reached;  ///< mean; NaN: not known
  int asked;
  bool short_of_it() const { return reached < 0.8 * asked; }
};

/// The baseline's total time divided by the method's, over blocks that both measured. Repeats of a
/// block count as the same block.
struct Speedup {
  Interval ratio;                  ///< as measured; see RobustRatio
  std::int64_t slow_baseline = 0;  ///< blocks in which only the baseline took too long
  /// blocks in which only the method took too long (outliers, see RobustRatio)
  std::int64_t slow_method = 0;
  Interval without_outliers{};
  std::int64_t blocks;            ///< number of distinct blocks
  std::int64_t measurements = 0;  ///< measurements of these blocks, including repeats
  /// measurements for which the system reported how much other processes used the machine
  std::int64_t told = 0;
  std::int64_t disturbed = 0;  ///< measurements during which other processes used the machine
  std::int64_t repaired = 0;   ///< disturbed measurements that were repeated
  std::int64_t in_vain = 0;    ///< repaired measurements that were disturbed again
  /// if some measurements were disturbed: the ratio over undisturbed ones. Disturbed measurements
  /// are replaced by their repeated measurement if that is undisturbed, and left out otherwise.
  std::optional<Interval> quiet;
  std::int64_t quiet_blocks = 0;   ///< number of distinct blocks in `quiet`
  std::vector<double> of_repeats;  ///< the ratio of each repeat, if there are several repeats
  bool traced = false;
};

/// The largest possible speedup over the baseline (roofline), from traces of both arms.
struct Allowed {
  std::vector<double> speedup;  ///< for each entry of CompareOptions::hardware
  std::int64_t examples;        ///< number of traced examples
};

/// Percentiles over answers, in seconds, with linear interpolation as in numpy.
struct Percentiles {
  double p50, p95, p99;
};

/// Common measures of speed. NaN: not known, or not comparable (see `speeds_of`).
struct Speeds {
  double tokens_per_second;  ///< generated tokens per second of wall time, over all concurrent jobs
  double forwards_per_second;  ///< forward passes of the network per second of the blocks' time
  /// least time of the counted work on this hardware (least_seconds) divided by the measured time
  double roofline_share;
  /// until the end of a job's first pass; only if the batch size is 1
  double prompt_tokens_per_second;
  std::optional<Percentiles> latency;      ///< from a job's start until its answers are complete
  std::optional<Percentiles> first_token;  ///< from a job's start until the first generated token
};

/// One score of an arm. The ends are NaN if there are fewer than kFewestBlocks clusters of
/// examples.
struct ScoreFinding {
  Interval value;
  std::int64_t count;  ///< number of answers with this score
  /// Difference from the baseline's score, over the answers for which both arms have a score.
  /// Repeated answers to one example count as one answer, with the mean of their scores. A failed
  /// answer counts as wrong.
  std::optional<Interval> difference;
  std::int64_t pairs = 0;     ///< number of answers in `difference`
  std::int64_t left_out = 0;  ///< answers for which only one arm has a score
  /// The number of independent examples, similar to these, that would show the score to be not
  /// worse by more than the margin. None: the estimate is worse by more than the margin, or more
  /// than a million examples are needed.
  std::optional<std::int64_t> would_do;
  /// Exact test of right and wrong answers by cluster (clustered_mcnemar), with Holm's correction.
  std::optional<double> p;
  bool lower_is_better = false;

  /// Whether the interval of the difference shows that the score is not worse than the baseline's
  /// by more than `margin`.
  enum class Verdict { not_worse, worse, open };
  Verdict verdict(double margin) const;
};

/// Differences between an arm's answers and the baseline's.
struct Departure {
  std::int64_t departed, compared;
  std::optional<double> median_gap, least_gap;  ///< gaps in logits at the first different token
  std::int64_t without_gap;
};

/// Value F1 of one attribute, over all categories.
struct AttributeFinding {
  std::string attribute;
  long values;  ///< number of values in the references
  double f1;    ///< micro average, counted as in ExtractGPT
};

/// The findings about one arm on one dataset that headlines and warnings need.
struct ArmFinding {
  RunSummary run;
  std::optional<size_t> baseline;  ///< index in Comparison::arms
  bool is_baseline = false;        ///< whether another arm is compared with it
  Reached jobs{}, stack{};         ///< concurrent jobs; examples per job
  /// mean number of streams (answers, or parts of answers decoded in parallel) that choose a token
  /// in a pass; NaN: not known
  double streams = 0;
  Interval examples_per_second{};  ///< over the blocks that were measured as a whole
  std::int64_t blocks = 0;         ///< number of distinct blocks measured as a whole
  std::int64_t measurements = 0;   ///< number of measurements of its blocks, including repeats
  /// number of measurements during which other processes used the machine
  std::int64_t disturbed = 0;
  /// share of its threads' time that other processes took, over all measurements
  double taken = 0;
  AnswerState state;
  std::optional<Speedup> speedup;
  /// share of answers equal to the baseline's; under an oracle: share of the network's own
  /// (unforced) choices that equal the baseline's; NaN: not compared
  double likeness = 0;
  double exact_match = 0;  ///< IPPD's EM; NaN: the arms do not both ask for one field at a time
  /// by the name of the score, e.g. "f1_micro" (a "total" is a score of a whole run)
  std::map<std::string_view, ScoreFinding> scores;
  std::optional<Departure> departure;

  bool broken() const { return state.mostly_broken(); }
};

/// Further findings about an arm, for tables and figures.
struct ArmDetails {
  Speeds speeds{};
  std::optional<Allowed> allowed;
  Interval tokens_per_forward{};             ///< generated tokens per pass, over jobs
  std::vector<AttributeFinding> attributes;  ///< by name; empty: values have no scores
  /// tokens emitted by a forward pass -> number of forward passes
  std::map<std::int64_t, std::int64_t> emitted;
  /// For each decoder in Comparison::own: one value per column.
  std::vector<std::vector<double>> own;
};

/// A metric of a dataset, if none of the answers on this dataset has a score by it.
struct Uncomputed {
  std::string dataset;
  std::string_view metric;  ///< for `score --metric`; empty: it needs a judge
  std::vector<std::string_view> totals;
};

/// The findings about all arms of one invocation that headlines and warnings need.
struct Overview {
  std::string db, invocation;
  double confidence, margin;
  std::string unit;  ///< name of the examples, e.g. products
  std::vector<ArmFinding> arms;
  /// The totals with intervals and differences from the baseline.
  std::vector<std::string_view> scores;
  bool exact_matches = false, stacks = false;
  std::vector<MachineRow> machines;  ///< that measured blocks
  std::vector<Warning> warnings;
  /// Datasets and arms that could not be run, with the reason.
  std::map<std::pair<std::string, std::string>, std::string> not_applicable;

  /// The different oracles of the arms. An oracle that only forces the acceptance of guesses does
  /// not apply to ar.
  std::vector<std::string> oracles() const;
  bool forced() const { return !oracles().empty(); }
  const ArmFinding* baseline_of(const ArmFinding& arm) const {
    return arm.baseline ? &arms[*arm.baseline] : nullptr;
  }
  /// Whether most answers of the arm or of its baseline are unusable. If so, neither speed nor
  /// scores are meaningful.
  bool is_broken(const ArmFinding& arm) const {
    const ArmFinding* baseline = baseline_of(arm);
    return arm.broken() || (baseline && baseline->broken());
  }
};

/// Everything that the tables, figures and page of an invocation show, from one reading of the
/// store. Its `scores` are the totals of the datasets' own metrics, and of other metrics that were
/// computed on request.
struct Comparison : Overview {
  std::vector<ArmDetails> details;  ///< for each arm
  std::vector<Uncomputed> uncomputed;
  std::vector<JudgedShare> judged;
  /// `machines`: the first of CompareOptions::hardware, once for each dtype of the arms;
  /// `other_machines`: the rest of that list, for each dtype.
  std::vector<Hardware> machines, other_machines;
  std::vector<std::string> allowing;  ///< CompareOptions::hardware, if any arm was traced
  /// Those decoders of the arms that have columns of their own.
  std::vector<const DecoderEntry*> own;

  /// REQUIRES: `arm` is an element of `arms`.
  const ArmDetails& details_of(const ArmFinding& arm) const {
    return details[static_cast<size_t>(&arm - arms.data())];
  }
};

/// The data of a comparison, by arm.
struct Measurements {
  Figures figures;
  std::vector<ScoreTable> scores;
};
/// ConfigError: there is no such invocation.
Measurements measurements_of(Store& store, const std::string& invocation);

/// The `scores` of the result are, for each dataset, only the first of its metrics that gets
/// intervals. ConfigError: there is no such invocation or arm.
Overview overview(Store& store, const std::string& invocation, const CompareOptions& options = {});

/// ConfigError: there is no such invocation or arm.
Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options = {});
/// `measured`: measurements of this invocation.
Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options,
                   const Measurements& measured);

/// The place where an arm's answer to one example first differs from the baseline's.
struct DifferingAnswer {
  DatasetRow dataset;
  std::string arm, sample, field, baseline, answer;
  /// index of the first difference among the answer's value tokens
  std::optional<std::int64_t> token;
  double gap;  ///< gap between the logits there; infinite: not known
  /// number of repeats in which the answer differs; all other members are those of the repeat with
  /// the smallest gap
  int repeats = 1;
};
/// `count` and `examples` include all differing answers; `first` only the examples with the
/// smallest gaps.
struct DifferingAnswers {
  std::int64_t count = 0;     ///< number of differing answers
  std::int64_t examples = 0;  ///< number of (arm, example) pairs with such an answer
  bool repeated = false;      ///< whether examples were answered more than once
  std::vector<DifferingAnswer> first;
};
DifferingAnswers differing_answers(Store& store, const Measurements& measured, int most);

}  // namespace pardec
