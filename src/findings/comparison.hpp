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

/// The comparison of an invocation's arms with their baselines: speeds, scores, and reasons to
/// distrust them. results/statistics.md explains the methods. Every function with a Store may also
/// throw a StoreError or DataError (store.hpp).
namespace pardec {

/// The smallest number of blocks (or clusters of examples) for an interval. Intervals over fewer
/// units are not reliable. If two arms are equal, all n units favour the same arm with a
/// probability of 2 / 2^n: 50 % for two units, 3 % for six.
inline constexpr std::int64_t kFewestBlocks = 6;

/// Returns `interval`, but with NaN as its ends if `units` is below kFewestBlocks. `units`: the
/// number of blocks or clusters that the interval was computed from.
Interval with_ends_of(Interval interval, std::int64_t units);

/// Computes ratio_of_totals over `blocks`, with its interval at level `confidence`. The ends are
/// NaN if there are fewer than kFewestBlocks blocks.
Interval interval_over(const std::vector<BlockPair>& blocks, double confidence);

/// Settings of a comparison.
struct CompareOptions {
  std::string baseline;  ///< label of an arm; empty: the baseline that each run recorded
  double confidence = 0.95;
  /// how far a score may be below the baseline's score and still count as not worse
  /// (ScoreFinding::verdict)
  double margin = 0.05;
  /// Machines, in the notation of read_hardware. Speeds::roofline_share is computed for the first
  /// machine. ArmDetails::allowed is computed for every machine, from `traced`. Empty: no rooflines
  /// are computed.
  std::vector<std::string> hardware;
  std::vector<TraceWork> traced;  ///< traced work of the same arms, possibly from another run
};
/// ConfigError: the confidence is not between 0 and 1 (exclusive), or the margin is negative or
/// NaN.
void check_compare_options(const CompareOptions& options);

/// A reason to distrust a number.
struct Warning {
  std::string code;          ///< e.g. "hit_limit"; results/table.md lists all codes
  std::string dataset, arm;  ///< names; empty: the warning applies to all datasets or all arms
  std::string found;         ///< what was found, as text
  /// what the finding means and what to do; may be empty
  std::string advice;
};

/// A mean number of items that were processed together, and the requested number. The items are
/// jobs in a forward pass, or examples in a job.
struct Reached {
  double reached;  ///< mean; NaN: not known
  int asked;       ///< requested number
  /// Whether the mean is below 80 % of the requested number; false if the mean is not known.
  bool short_of_it() const { return reached < 0.8 * asked; }
};

/// The speedup of an arm, here called the method: the baseline's total time divided by the method's
/// total time, over the blocks that one process measured for both arms. The times of all repeats of
/// a block are summed, so that all repeats of a block count as one block. The ends of an interval
/// over fewer than kFewestBlocks blocks are NaN. A block in which one of the two arms was unusually
/// slow is an outlier (robust_ratio_of_totals).
struct Speedup {
  /// over all blocks; the interval is widened to cover the interval of `without_outliers`
  Interval ratio;
  std::int64_t slow_baseline = 0;  ///< number of blocks in which the baseline was slow (outliers)
  std::int64_t slow_method = 0;    ///< number of blocks in which the method was slow (outliers)
  Interval without_outliers{};     ///< the ratio without the outliers
  std::int64_t blocks;             ///< number of distinct blocks
  std::int64_t measurements = 0;   ///< number of measurements of these blocks, including repeats
  /// Number of measurements for which the core time that others took is known for both arms
  /// (taken_share). Others are other programs, the host of a virtual machine, or a CPU quota.
  std::int64_t load_known = 0;
  /// number of measurements during which others took at least kDisturbedShare of the core time of
  /// one of the two arms
  std::int64_t disturbed = 0;
  std::int64_t repaired = 0;         ///< disturbed measurements that were repeated by `--repair`
  std::int64_t disturbed_again = 0;  ///< repaired measurements that were disturbed again
  /// The ratio without disturbed measurements. A disturbed measurement is replaced by its
  /// repetition. A disturbed measurement without an undisturbed repetition is left out. None: no
  /// measurement was disturbed. NaN: no measurement is left.
  std::optional<Interval> quiet;
  std::int64_t quiet_blocks = 0;   ///< number of distinct blocks in `quiet`
  std::vector<double> of_repeats;  ///< the ratio in each repeat; empty: there is only one repeat
  /// whether a trace was written during one of the measurements, which takes time
  bool traced = false;
};

/// The largest speedup over the baseline that the hardware allows (roofline), computed from traces
/// of both arms.
struct Allowed {
  std::vector<double> speedup;  ///< one for each entry of CompareOptions::hardware
  std::int64_t examples;        ///< number of traced examples
};

/// Percentiles over answers, in seconds, with linear interpolation as in numpy.
struct Percentiles {
  double p50, p95, p99;
};

/// Common measures of speed. NaN: not known, or not comparable between arms (see `speeds_of`).
/// tokens_per_second, forwards_per_second and roofline_share are computed with the wall time of the
/// measured blocks.
struct Speeds {
  double tokens_per_second;    ///< generated tokens per second
  double forwards_per_second;  ///< forward passes of the network per second
  /// least time of the counted work on the hardware (least_seconds), divided by the measured time
  double roofline_share;
  /// Prompt tokens of all jobs, divided by the sum of the times from a job's start until the end of
  /// the job's first pass. NaN unless the batch size is 1.
  double prompt_tokens_per_second;
  /// from a job's start until its answers are complete; none: all jobs failed
  std::optional<Percentiles> latency;
  /// from a job's start until the first generated token; none: not known
  std::optional<Percentiles> first_token;
};

/// One score of an arm. The ends of an interval are NaN if there are fewer than kFewestBlocks
/// clusters of examples, or if no interval was requested (Overview::scores). Here, an answer is the
/// answer to one field, or to a whole example, as the metric counts.
struct ScoreFinding {
  Interval value;
  std::int64_t count;  ///< number of scored answers, over all repeats (MetricTotal::count)
  /// The arm's score minus the baseline's score, over the answers for which both arms have a score.
  /// Repeated answers count as one answer, with the mean of their scores. A failed answer counts as
  /// wrong. None: there is no baseline, the baseline has no such score, or no difference was
  /// requested (Overview::scores).
  std::optional<Interval> difference;
  std::int64_t pairs = 0;     ///< number of pairs of answers that `difference` compares
  std::int64_t left_out = 0;  ///< number of answers for which only one arm has a score
  /// An estimate of the number of clusters that would be enough for the verdict `not_worse`, if
  /// they were like the clusters of this run (ClusterMean::clusters_above). None: the estimated
  /// loss is at least the margin, more than a million clusters would be needed, or there is no
  /// difference over at least two clusters.
  std::optional<std::int64_t> would_do;
  /// The p-value of an exact test over right and wrong answers by cluster (clustered_mcnemar),
  /// adjusted with Holm's method. Of repeated answers, only the first counts. None: there is no
  /// difference, or the score is not a share of right answers.
  std::optional<double> p;
  bool lower_is_better = false;

  /// Compares the interval of the difference with the margin. `not_worse`: the whole interval lies
  /// above -margin. `worse`: the whole interval lies below -margin. `open`: the interval contains
  /// -margin, or there is no difference or no interval. If lower scores are better, the sign of the
  /// difference is reversed first.
  enum class Verdict { not_worse, worse, open };
  Verdict verdict(double margin) const;
};

/// How many of an arm's answers differ from the baseline's answers, and how close the arm's choice
/// was at the first different token.
struct Departure {
  std::int64_t departed, compared;  ///< number of answers that differ; number of answers compared
  /// Median and minimum, over the differing answers, of the gap between the arm's two largest
  /// logits at the first different token. None: no gap is known.
  std::optional<double> median_gap, least_gap;
  std::int64_t without_gap;  ///< number of differing answers with an unknown gap
};

/// The F1 score for the values of one attribute, over all product categories.
struct AttributeFinding {
  std::string attribute;
  long values;  ///< number of scored answers whose reference has a value
  double f1;    ///< micro average from 0 to 1, counted as in ExtractGPT (extractgpt_f1)
};

/// Findings about one arm on one dataset: the part that headlines and warnings use.
struct ArmFinding {
  RunSummary run;
  std::optional<size_t> baseline;  ///< index in Overview::arms; none: the arm has no baseline
  bool is_baseline = false;        ///< whether other arms are compared with this arm
  Reached jobs{}, stack{};         ///< jobs: jobs in a forward pass; stack: examples in a job
  /// mean number of experts that a pass reads in one layer with experts; NaN: the network has no
  /// experts, or the number is not known
  double experts = 0;
  /// mean number of streams that choose a token in a pass; NaN: not known. A stream is an answer,
  /// or a part of an answer that is decoded in parallel.
  double streams = 0;
  /// over the blocks that were measured completely; the ends are NaN if there are fewer than
  /// kFewestBlocks blocks
  Interval examples_per_second{};
  std::int64_t blocks = 0;        ///< number of distinct blocks that were measured completely
  std::int64_t measurements = 0;  ///< number of measurements of these blocks, including repeats
  std::int64_t disturbed = 0;  ///< number of these measurements that were disturbed (is_disturbed)
  /// Share, from 0 to 1, of the core time of the arm's threads that others took (taken_share), over
  /// the measurements for which the share is known. 0: it is never known.
  double taken = 0;
  AnswerState state;
  /// none: the arm has no baseline, or no measured block in common with it
  std::optional<Speedup> speedup;
  /// Without an oracle: the share of the compared answers that equal the baseline's answers. NaN:
  /// no answer was compared. With an oracle: the share of the compared tokens for which the arm's
  /// network and the baseline's network would themselves choose the same token (add_unforced). NaN:
  /// there is no baseline, or equal token ids mean different tokens in the two networks (same_ids).
  double likeness = 0;
  /// IPPD's EM, the share of fields with the baseline's tokens (add_exact). NaN unless there is a
  /// baseline, equal token ids mean equal tokens in both networks (same_ids), and both arms ask for
  /// one field at a time (both_ask_one_by_one).
  double exact_match = 0;
  /// All totals with stored scores. The keys are names of totals, e.g. "f1_micro". A total is a
  /// score of a whole run. Empty if an arm of the comparison has an oracle.
  std::map<std::string_view, ScoreFinding> scores;
  /// none: there is no baseline, no answer differs, or the arm has an oracle
  std::optional<Departure> departure;

  bool broken() const { return state.mostly_broken(); }
};

/// Further findings about an arm, for tables and figures.
struct ArmDetails {
  Speeds speeds{};
  /// none: the arm and its baseline have no traces of the same examples, or the size of a network
  /// is not known
  std::optional<Allowed> allowed;
  Interval tokens_per_forward{};  ///< generated tokens per forward pass; interval over jobs
  std::vector<AttributeFinding> attributes;  ///< sorted by name; empty: values have no scores
  /// histogram: number of tokens that a forward pass added to an answer (0 or more) -> number of
  /// such passes
  std::map<std::int64_t, std::int64_t> emitted;
  /// Values of the columns that only some decoders have: [decoder, in the order of
  /// Comparison::own][column, in the order of DecoderEntry::own_columns]. NaN: the arm has no
  /// value.
  std::vector<std::vector<double>> own;
};

/// A metric of a dataset for which at least one arm with answers has no score yet.
struct Uncomputed {
  std::string dataset;
  std::string_view metric;  ///< name for `score --metric`; empty: the metrics that need a judge
  /// the totals that are missing: all totals of the metric, or all totals in the dataset's list of
  /// scores that need a judge
  std::vector<std::string_view> totals;
};

/// Findings about all arms of one invocation: the part that headlines and warnings use.
struct Overview {
  std::string db, invocation;  ///< path of the database, and id
  double confidence, margin;
  /// what an example is called, e.g. "products"; "examples" if this differs between the datasets
  std::string unit;
  std::vector<ArmFinding> arms;  ///< one for each arm on each dataset
  /// The names of the totals that have an interval and a difference from the baseline.
  std::vector<std::string_view> scores;
  bool exact_matches = false;  ///< whether an arm and its baseline ask for one field at a time
  bool stacks = false;         ///< whether an arm's options ask for several examples in a prompt
  std::vector<MachineRow> machines;  ///< the machines on which blocks were measured
  std::vector<Warning> warnings;
  /// (name of a dataset, label of an arm) -> why the arm could not be run on the dataset
  std::map<std::pair<std::string, std::string>, std::string> not_applicable;

  /// The distinct oracles of the arms. If the run's oracle only decides which guesses are accepted,
  /// `ar` arms have no oracle (give_oracle).
  std::vector<std::string> oracles() const;
  /// Whether an arm has an oracle.
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
/// Here, Overview::scores has the totals of the datasets' own metrics, and of other metrics that
/// were computed on request.
struct Comparison : Overview {
  std::vector<ArmDetails> details;     ///< one for each entry of `arms`
  std::vector<Uncomputed> uncomputed;  ///< empty if an arm has an oracle
  std::vector<JudgedShare> judged;     ///< judged_shares of all arms, in the order of `arms`
  /// The machines of the rooflines. `hardware`: the first entry of CompareOptions::hardware, once
  /// for each dtype of the arms. `other_hardware`: the further entries of CompareOptions::hardware,
  /// all of them for the first dtype, then for the next dtype.
  std::vector<Hardware> hardware, other_hardware;
  /// the machines of ArmDetails::allowed: a copy of CompareOptions::hardware; empty if no arm has
  /// ArmDetails::allowed
  std::vector<std::string> allowing;
  /// The distinct decoders of the arms, without the decoders that have no columns of their own
  /// (DecoderEntry::own_columns).
  std::vector<const DecoderEntry*> own;

  /// REQUIRES: `arm` is an element of `arms`.
  const ArmDetails& details_of(const ArmFinding& arm) const {
    return details[static_cast<size_t>(&arm - arms.data())];
  }
};

/// The stored data that a comparison is computed from.
struct Measurements {
  Figures figures;
  std::vector<ScoreTable> scores;  ///< one for each run in `figures`
};
/// Reads the data of an invocation in one transaction. `invocation`: its whole id. ConfigError:
/// there is no such invocation.
Measurements measurements_of(Store& store, const std::string& invocation);

/// Computes the part of a comparison that headlines and warnings use. To save time, only one score
/// of each dataset gets an interval and a difference: the first of the dataset's scores that `run`
/// computes. The hardware and the traces in `options` are not used. ConfigError: there is no such
/// invocation, or no arm has the label `options.baseline`. REQUIRES: check_compare_options accepts
/// `options`.
Overview overview(Store& store, const std::string& invocation, const CompareOptions& options = {});

/// Computes a whole comparison. ConfigError: there is no such invocation; no arm has the label
/// `options.baseline`; or no score can differ by more than the margin. Errors about the hardware:
/// see add_rooflines. REQUIRES: check_compare_options accepts `options`.
Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options = {});
/// Computes a whole comparison from data that was already read. Errors and requirements: see the
/// function without `measured`. REQUIRES: `measured` is measurements_of(store, invocation).
Comparison compare(Store& store, const std::string& invocation, const CompareOptions& options,
                   const Measurements& measured);

/// An answer that differs from the baseline's answer to the same example, and the place of the
/// first difference.
struct DifferingAnswer {
  DatasetRow dataset;
  std::string arm, sample;  ///< label of the arm, and the example's key in the dataset
  /// Name of the first different field, and the texts of this field in the baseline's answer and in
  /// the arm's answer. All three are empty if the texts of all fields are equal.
  std::string field, baseline, answer;
  /// index of the first different token, counted over the tokens of all fields of the arm's answer
  /// (Identity::first_difference); none: not known
  std::optional<std::int64_t> token;
  double gap;  ///< gap between the arm's two largest logits there; infinite: not known
  /// number of repeats in which the answer differs; the other members describe the repeat with the
  /// smallest gap
  int repeats = 1;
};
/// Counts of all differing answers, and details of some of them.
struct DifferingAnswers {
  std::int64_t count = 0;     ///< number of differing answers
  std::int64_t examples = 0;  ///< number of (arm, example) pairs with a differing answer
  bool repeated = false;      ///< whether examples were answered more than once
  /// one entry for each pair in `examples`, the smallest gap first; at most `most` entries
  /// (differing_answers)
  std::vector<DifferingAnswer> first;
};
/// Finds the answers that differ from the answers of the baseline that each run recorded. Arms with
/// an oracle and failed answers are left out. `most`: the largest number of entries in
/// DifferingAnswers::first. REQUIRES: `measured` was read from `store`.
DifferingAnswers differing_answers(Store& store, const Measurements& measured, int most);

}  // namespace pardec
