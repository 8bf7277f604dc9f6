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

/// The smallest number of blocks (or clusters of examples) for an interval. Intervals over fewer
/// units are not reliable: with two units, half of all comparisons of equal arms would show a
/// difference.
inline constexpr std::int64_t kFewestBlocks = 6;

/// Returns `interval`. The ends are replaced by NaN if `units`, the number of blocks or clusters
/// behind it, is below kFewestBlocks.
Interval with_ends_of(Interval interval, std::int64_t units);

/// ratio_of_totals over `blocks`. The ends are NaN if there are fewer than kFewestBlocks blocks.
Interval interval_over(const std::vector<BlockPair>& blocks, double confidence);

/// Settings of a comparison.
struct CompareOptions {
  std::string baseline;  ///< label of an arm; empty: the baseline that each run recorded
  double confidence = 0.95;
  double margin = 0.05;  ///< a score that is lower by less than this counts as not worse
  /// Machines, in the notation of read_hardware. Shares of the roofline are computed for the first
  /// machine. The largest possible speedup is computed for every machine, from `traced`.
  std::vector<std::string> hardware;
  std::vector<TraceWork> traced;  ///< traces of the same arms, possibly from another run
};
/// ConfigError: the confidence is not between 0 and 1 (exclusive), or the margin is negative or
/// NaN.
void check_compare_options(const CompareOptions& options);

/// A reason to distrust a number.
struct Warning {
  std::string code;          ///< for programs, e.g. "hit_limit"; results/table.md lists all codes
  std::string dataset, arm;  ///< empty: the warning applies to all
  std::string found;         ///< what was found, as text
  /// what the finding means and what to do, the same for all arms; may be empty
  std::string advice;
};

/// How many concurrent jobs, or how many examples of a stack, were processed together on average,
/// and how many were requested.
struct Reached {
  double reached;  ///< mean; NaN: not known
  int asked;       ///< requested number
  /// Whether the mean is below 80 % of the requested number; false if the mean is not known.
  bool short_of_it() const { return reached < 0.8 * asked; }
};

/// The baseline's total time divided by the method's, over the blocks for which both have a time.
/// Repeats of a block count as one block. The ends of an interval over fewer than kFewestBlocks
/// blocks are NaN.
struct Speedup {
  Interval ratio;                  ///< over all measurements; see RobustRatio
  std::int64_t slow_baseline = 0;  ///< number of blocks in which only the baseline is an outlier
  /// number of blocks in which only the method is an outlier (RobustRatio)
  std::int64_t slow_method = 0;
  Interval without_outliers{};    ///< the ratio without the blocks of these two counts
  std::int64_t blocks;            ///< number of distinct blocks
  std::int64_t measurements = 0;  ///< number of measurements of these blocks, including repeats
  /// number of measurements for which it is known how much core time others took from both arms
  /// (taken_share)
  std::int64_t load_known = 0;
  /// number of measurements during which others took at least kDisturbedShare of the core time of
  /// one of the two arms
  std::int64_t disturbed = 0;
  std::int64_t repaired = 0;         ///< disturbed measurements that were repeated by `--repair`
  std::int64_t disturbed_again = 0;  ///< repaired measurements that were disturbed again
  /// The ratio without disturbed measurements; none: no measurement was disturbed. A disturbed
  /// measurement is replaced by its repetition. It is left out if it was not repeated, or if its
  /// repetition was disturbed too.
  std::optional<Interval> quiet;
  std::int64_t quiet_blocks = 0;   ///< number of distinct blocks in `quiet`
  std::vector<double> of_repeats;  ///< the ratio of each repeat, if there are several repeats
  /// whether a trace was written during one of the measurements, which takes time
  bool traced = false;
};

/// The largest speedup over the baseline that the hardware allows (roofline), computed from traces
/// of both arms.
struct Allowed {
  std::vector<double> speedup;  ///< one per entry of CompareOptions::hardware
  std::int64_t examples;        ///< number of traced examples
};

/// Percentiles over answers, in seconds, with linear interpolation as in numpy.
struct Percentiles {
  double p50, p95, p99;
};

/// Common measures of speed. NaN: not known, or not comparable between arms (see `speeds_of`).
struct Speeds {
  double tokens_per_second;  ///< generated tokens per second of wall time, over all concurrent jobs
  double forwards_per_second;  ///< forward passes of the network per second of the blocks' time
  /// least time of the counted work on the hardware (least_seconds), divided by the measured time
  double roofline_share;
  /// Prompt tokens divided by the time until the end of the job's first pass. Only with batch size
  /// 1.
  double prompt_tokens_per_second;
  /// from a job's start until its answers are complete; none: all jobs failed
  std::optional<Percentiles> latency;
  /// from a job's start until the first generated token; none: not known
  std::optional<Percentiles> first_token;
};

/// One score of an arm. The ends are NaN if there are fewer than kFewestBlocks clusters of
/// examples.
struct ScoreFinding {
  Interval value;
  std::int64_t count;  ///< number of answers with this score
  /// Difference from the baseline's score, over the answers for which both arms have a score.
  /// Repeated answers to one example count as one answer, with the mean of their scores. A failed
  /// answer counts as wrong. None: there is no baseline, the baseline has no such score, or no
  /// difference was requested (Overview::scores).
  std::optional<Interval> difference;
  std::int64_t pairs = 0;     ///< number of pairs of answers that `difference` compares
  std::int64_t left_out = 0;  ///< answers for which only one arm has a score
  /// An estimate of the number of independent examples that would be enough to show that the score
  /// is not worse by more than the margin, if they are like these examples. None: the estimated
  /// difference is beyond the margin, or more than a million examples would be needed.
  std::optional<std::int64_t> would_do;
  /// The p-value of an exact test over right and wrong answers by cluster (clustered_mcnemar),
  /// adjusted with Holm's method. None: there is no difference, or the score is not a share of
  /// right answers.
  std::optional<double> p;
  bool lower_is_better = false;

  /// Compares the interval of the difference with the margin. `not_worse`: the whole interval lies
  /// above -margin. `worse`: it lies below -margin. `open`: it contains -margin, or there is no
  /// difference or no interval. If lower scores are better, the sign is reversed first.
  enum class Verdict { not_worse, worse, open };
  Verdict verdict(double margin) const;
};

/// How many of an arm's answers differ from the baseline's.
struct Departure {
  std::int64_t departed, compared;  ///< number of answers that differ; number of answers compared
  /// gap between the two largest logits at an answer's first different token; none: not known
  std::optional<double> median_gap, least_gap;
  std::int64_t without_gap;  ///< number of differing answers with an unknown gap
};

/// The value F1 of one attribute, over all product categories.
struct AttributeFinding {
  std::string attribute;
  long values;  ///< number of values in the references
  double f1;    ///< micro average, counted as in ExtractGPT
};

/// Findings about one arm on one dataset: the part that headlines and warnings use.
struct ArmFinding {
  RunSummary run;
  std::optional<size_t> baseline;  ///< index in Comparison::arms
  bool is_baseline = false;        ///< whether other arms are compared with this arm
  Reached jobs{}, stack{};         ///< jobs: number of concurrent jobs; stack: examples per job
  /// mean number of experts that a layer with experts reads in a pass; NaN: the network has no
  /// experts, or it is not known
  double experts = 0;
  /// mean number of streams that choose a token in a pass; NaN: not known. A stream is an answer,
  /// or a part of an answer that is decoded in parallel.
  double streams = 0;
  /// over the blocks that were measured completely; the ends are NaN if there are fewer than
  /// kFewestBlocks blocks
  Interval examples_per_second{};
  std::int64_t blocks = 0;        ///< number of distinct blocks that were measured completely
  std::int64_t measurements = 0;  ///< number of measurements of its blocks, including repeats
  /// number of measurements during which others took at least kDisturbedShare of the core time
  std::int64_t disturbed = 0;
  /// share of the core time of the arm's threads that others took (taken_share), over the
  /// measurements for which it is known; 0 if it is never known
  double taken = 0;
  AnswerState state;
  std::optional<Speedup> speedup;  ///< none: no baseline, or no measured block in common with it
  /// Share of the answers that equal the baseline's; NaN: not compared. Under an oracle: share of
  /// the network's own (unforced) choices that equal the baseline's; NaN: the networks of the two
  /// arms have different token ids (same_ids).
  double likeness = 0;
  /// IPPD's EM. NaN unless there is a baseline, the networks of both arms have the same token ids
  /// (same_ids), and both arms ask for one field at a time (both_ask_one_by_one).
  double exact_match = 0;
  /// The keys are names of totals, e.g. "f1_micro". A total is a score of a whole run.
  std::map<std::string_view, ScoreFinding> scores;
  std::optional<Departure> departure;  ///< none: no answer differs, or the arm has an oracle

  bool broken() const { return state.mostly_broken(); }
};

/// Further findings about an arm, for tables and figures.
struct ArmDetails {
  Speeds speeds{};
  /// none: traces of the same examples by both arms, or the sizes of their networks, are not known
  std::optional<Allowed> allowed;
  Interval tokens_per_forward{};             ///< generated tokens per pass, over jobs
  std::vector<AttributeFinding> attributes;  ///< sorted by name; empty: values have no scores
  /// histogram: tokens emitted by a forward pass -> number of such passes
  std::map<std::int64_t, std::int64_t> emitted;
  /// For each decoder in Comparison::own: one value for each of its own columns.
  std::vector<std::vector<double>> own;
};

/// A metric of a dataset for which at least one arm with answers has no score yet.
struct Uncomputed {
  std::string dataset;
  std::string_view metric;  ///< name for `score --metric`; empty: the metric needs a judge
  std::vector<std::string_view> totals;
};

/// Findings about all arms of one invocation: the part that headlines and warnings use.
struct Overview {
  std::string db, invocation;
  double confidence, margin;
  /// what an example is called, e.g. "products"; "examples" if this differs between the datasets
  std::string unit;
  std::vector<ArmFinding> arms;
  /// The names of the totals that have an interval and a difference from the baseline.
  std::vector<std::string_view> scores;
  bool exact_matches = false;  ///< whether some arm and its baseline ask for one field at a time
  bool stacks = false;         ///< whether some arm was to answer several examples in one prompt
  std::vector<MachineRow> machines;  ///< the machines on which blocks were measured
  std::vector<Warning> warnings;
  /// (dataset, arm) -> reason, for arms that could not be run on a dataset.
  std::map<std::pair<std::string, std::string>, std::string> not_applicable;

  /// The distinct oracles of the arms. (An `ar` arm has none if the run's oracle only forces the
  /// acceptance of guesses: give_oracle.)
  std::vector<std::string> oracles() const;
  /// Whether there is an entry in oracles().
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

/// Everything that the tables, figures and page of an invocation show, read from the store once.
/// `scores` has the totals of the datasets' own metrics, and of other metrics that were computed on
/// request.
struct Comparison : Overview {
  std::vector<ArmDetails> details;  ///< one per entry of `arms`
  std::vector<Uncomputed> uncomputed;
  std::vector<JudgedShare> judged;
  /// `machines`: the first entry of CompareOptions::hardware, once for each dtype of the arms.
  /// `other_machines`: the other entries, once for each dtype.
  std::vector<Hardware> machines, other_machines;
  /// CompareOptions::hardware; empty if no arm has ArmDetails::allowed
  std::vector<std::string> allowing;
  /// The decoders of the arms that have columns of their own.
  std::vector<const DecoderEntry*> own;

  /// REQUIRES: `arm` is an element of `arms`.
  const ArmDetails& details_of(const ArmFinding& arm) const {
    return details[static_cast<size_t>(&arm - arms.data())];
  }
};

/// The stored data that a comparison is computed from.
struct Measurements {
  Figures figures;
  std::vector<ScoreTable> scores;  ///< one per run in `figures`
};
/// Reads the data of an invocation. ConfigError: there is no such invocation.
Measurements measurements_of(Store& store, const std::string& invocation);

/// Computes the part of a comparison that headlines and warnings use. To save time, only one score
/// per dataset is compared: the first of the dataset's scores that can have an interval.
/// ConfigError: there is no such invocation, or no arm has the label `options.baseline`.
Overview overview(Store& store, const std::string& invocation, const CompareOptions& options = {});

/// Computes a whole comparison. ConfigError: there is no such invocation; no arm has the label
/// `options.baseline`; the margin is so large that no score can differ by more; or the hardware is
/// invalid (add_rooflines).
Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options = {});
/// Computes a whole comparison from data that was already read. Errors: see the function without
/// `measured`. REQUIRES: `measured` is measurements_of(store, invocation).
Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options,
                   const Measurements& measured);

/// An answer that differs from the baseline's answer to the same example, and where it first
/// differs.
struct DifferingAnswer {
  DatasetRow dataset;
  std::string arm, sample;
  /// name of the first different field, and the texts of this field in both answers; empty: the
  /// texts of all fields are equal
  std::string field, baseline, answer;
  /// index of the first different token among the tokens of the field; none: not known
  std::optional<std::int64_t> token;
  double gap;  ///< gap between the two largest logits there; infinite: not known
  /// number of repeats in which the answer differs; the other members describe the repeat with the
  /// smallest gap
  int repeats = 1;
};
/// Counts of all differing answers, and details of some of them.
struct DifferingAnswers {
  std::int64_t count = 0;     ///< number of differing answers
  std::int64_t examples = 0;  ///< number of (arm, example) pairs with a differing answer
  bool repeated = false;      ///< whether examples were answered more than once
  /// one entry per (arm, example), the smallest gap first
  std::vector<DifferingAnswer> first;
};
/// The answers that differ from those of the baseline that each run recorded. Arms with an oracle
/// and failed answers are left out. `most`: the largest number of entries in `first`.
DifferingAnswers differing_answers(Store& store, const Measurements& measured, int most);

}  // namespace pardec
